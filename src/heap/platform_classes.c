/* heap/platform_classes.c - tables of platform classes, which an application cannot change. */
#include "heap/platform_classes.h"

#include <string.h>

/*
 * Packages whose objects only hold what other code stores in them. The first five are MAT's skip
 * pattern; the others are their equivalents on Android and in other JVM languages.
 */
static const char *const platform_prefixes[] = {
	"java.",    "javax.",    "com.sun.",     "sun.",         "jdk.",
	"android.", "androidx.", "com.android.", "dalvik.",      "libcore.",
	"kotlin.",  "kotlinx.",  "scala.",       "groovy.lang.", "clojure.lang.",
};

/* Libraries that wait, read and call back on behalf of an application. */
static const char *const library_prefixes[] = {
	"akka.",
	"ch.qos.logback.",
	"com.codahale.metrics.",
	"com.fasterxml.jackson.",
	"com.github.benmanes.caffeine.",
	"com.google.common.",
	"com.google.gson.",
	"com.mchange.",
	"com.mongodb.",
	"com.mysql.",
	"com.rabbitmq.client.",
	"com.zaxxer.hikari.",
	"feign.",
	"io.grpc.",
	"io.lettuce.",
	"io.micrometer.",
	"io.netty.",
	"io.projectreactor.",
	"io.reactivex.",
	"io.undertow.",
	"io.vertx.",
	"okhttp3.",
	"okio.",
	"oracle.jdbc.",
	"org.aspectj.",
	"org.apache.catalina.",
	"org.apache.commons.",
	"org.apache.coyote.",
	"org.apache.hc.",
	"org.apache.http.",
	"org.apache.kafka.clients.",
	"org.apache.logging.",
	"org.apache.pekko.",
	"org.apache.tomcat.",
	"org.eclipse.jetty.",
	"org.h2.",
	"org.hibernate.",
	"org.jboss.",
	"org.mariadb.jdbc.",
	"org.mybatis.",
	"org.postgresql.",
	"org.quartz.",
	"org.slf4j.",
	"org.springframework.",
	"reactor.",
	"redis.clients.",
	"retrofit2.",
	"rx.",
};

static const char *const primitive_names[] = {
	"boolean", "byte", "char", "short", "int", "long", "float", "double",
};

/* Returns whether the class is an array of a primitive type with any number of dimensions. */
static bool is_primitive_name(const char *class_name)
{
	const size_t size = strcspn(class_name, "[");

	for (size_t i = 0; i < sizeof(primitive_names) / sizeof(primitive_names[0]); i++)
		if (strlen(primitive_names[i]) == size &&
		    strncmp(class_name, primitive_names[i], size) == 0)
			return true;
	return false;
}

bool heap_is_number_array(const char *class_name)
{
	return is_primitive_name(class_name) &&
	       strcmp(class_name + strcspn(class_name, "["), "[]") == 0;
}

bool heap_is_anonymous_class(const char *class_name)
{
	const char *inner = strrchr(class_name, '$');

	return inner && inner[1] && !inner[1 + strspn(inner + 1, "0123456789")];
}

static bool has_prefix(const char *class_name, const char *const *prefixes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(class_name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}
#define HAS_PREFIX(name, list) has_prefix(name, list, sizeof(list) / sizeof((list)[0]))

/* See the header. The prefixes end with a dot, so "java." does not match "java2.X". */
bool heap_is_platform_class(const char *class_name)
{
	if (is_primitive_name(class_name))
		return true;
	return HAS_PREFIX(class_name, platform_prefixes);
}

bool heap_is_library_class(const char *class_name)
{
	return HAS_PREFIX(class_name, library_prefixes);
}

/*
 * Value classes. So many objects share instances of these classes that an instance does not reveal
 * its owner. Collections, references, threads and other classes that may have many instances for
 * their own reasons are not listed.
 */
static const char *const value_names[] = {
	"java.lang.Class",   "java.lang.Object",     "java.lang.String",
	"java.lang.Boolean", "java.lang.Byte",       "java.lang.Character",
	"java.lang.Short",   "java.lang.Integer",    "java.lang.Long",
	"java.lang.Float",   "java.lang.Double",     "java.lang.StackTraceElement",
	"java.lang.Module",  "java.math.BigInteger", "java.math.BigDecimal",
	"java.net.URI",      "java.net.URL",         "java.util.Date",
	"java.util.Locale",  "java.util.UUID",       "java.util.jar.Attributes$Name",
};
static const char *const value_prefixes[] = {
	"java.time.",
	"java.lang.invoke.",
	"java.lang.module.",
	"java.lang.reflect.",
	"java.util.concurrent.atomic.",
};

bool heap_is_value_class(const char *class_name)
{
	const size_t size = strlen(class_name);

	/*
	 * An array belongs to the object that refers to it. But an element class from the
	 * application identifies the owner.
	 */
	if (size > 2 && strcmp(class_name + size - 2, "[]") == 0)
		return heap_is_platform_class(class_name);
	for (size_t i = 0; i < sizeof(value_names) / sizeof(value_names[0]); i++)
		if (strcmp(class_name, value_names[i]) == 0)
			return true;
	return HAS_PREFIX(class_name, value_prefixes);
}
