/*
 * gen_service_classes.c - see gen_service_classes.h.
 */
#include "gen_service_classes.h"

#include <assert.h>
#include <stdio.h>

/* The place of a class, by the name of its number. */
#define AT(name) [SVC_##name - GEN_FIRST_OWN_CLASS]

static const struct gen_declaration declared[] = {
	AT(ABSTRACT_MAP) = { "java/util/AbstractMap", GEN_OBJECT_CLASS, GEN_BOOT, "LkeySet Lvalues",
			     "" },
	AT(HASH_MAP) = { "java/util/HashMap", SVC_ABSTRACT_MAP, GEN_BOOT,
			 "Ltable Isize LentrySet ImodCount Ithreshold FloadFactor",
			 "IMAXIMUM_CAPACITY" },
	AT(HASH_NODE) = { "java/util/HashMap$Node", GEN_OBJECT_CLASS, GEN_BOOT,
			  "Ihash Lkey Lvalue Lnext", "" },
	AT(HASH_NODE_ARRAY) = { "[Ljava/util/HashMap$Node;", GEN_OBJECT_CLASS, GEN_BOOT, "", "" },
	AT(CONCURRENT_MAP) = { "java/util/concurrent/ConcurrentHashMap", SVC_ABSTRACT_MAP, GEN_BOOT,
			       "Ltable JbaseCount LnextTable IsizeCtl ItransferIndex "
			       "IcellsBusy LcounterCells",
			       "INCPU" },
	AT(CONCURRENT_NODE) = { "java/util/concurrent/ConcurrentHashMap$Node", GEN_OBJECT_CLASS,
				GEN_BOOT, "Ihash Lkey Lval Lnext", "" },
	AT(CONCURRENT_NODE_ARRAY) = { "[Ljava/util/concurrent/ConcurrentHashMap$Node;",
				      GEN_OBJECT_CLASS, GEN_BOOT, "", "" },
	AT(ABSTRACT_SEQUENTIAL) = { "java/util/AbstractSequentialList", GEN_ABSTRACT_LIST, GEN_BOOT,
				    "", "" },
	AT(LINKED_LIST) = { "java/util/LinkedList", SVC_ABSTRACT_SEQUENTIAL, GEN_BOOT,
			    "Lfirst Llast Isize", "" },
	AT(LINKED_NODE) = { "java/util/LinkedList$Node", GEN_OBJECT_CLASS, GEN_BOOT,
			    "Litem Lnext Lprev", "" },
	AT(DOUBLE) = { "java/lang/Double", GEN_NUMBER, GEN_BOOT, "Dvalue", "" },
	AT(DATE) = { "java/util/Date", GEN_OBJECT_CLASS, GEN_BOOT, "JfastTime Lcdate", "" },
	AT(BIG_INTEGER) = { "java/math/BigInteger", GEN_NUMBER, GEN_BOOT,
			    "Lmag Isignum IbitCountPlusOne IbitLengthPlusOne", "" },
	AT(BIG_DECIMAL) = { "java/math/BigDecimal", GEN_NUMBER, GEN_BOOT,
			    "LintVal LstringCache Iscale Iprecision JintCompact", "" },
	AT(ATOMIC_LONG) = { "java/util/concurrent/atomic/AtomicLong", GEN_NUMBER, GEN_BOOT,
			    "Jvalue", "" },
	AT(REFERENCE) = { "java/lang/ref/Reference", GEN_OBJECT_CLASS, GEN_BOOT,
			  "Lreferent Lqueue Lnext Ldiscovered", "" },
	AT(WEAK) = { "java/lang/ref/WeakReference", SVC_REFERENCE, GEN_BOOT, "", "" },
	AT(SOFT) = { "java/lang/ref/SoftReference", SVC_REFERENCE, GEN_BOOT, "Jtimestamp",
		     "Jclock" },
	AT(FINAL) = { "java/lang/ref/FinalReference", SVC_REFERENCE, GEN_BOOT, "", "" },
	AT(FINALIZER) = { "java/lang/ref/Finalizer", SVC_FINAL, GEN_BOOT, "Lnext Lprev",
			  "Lunfinalized" },
	AT(QUEUE) = { "java/lang/ref/ReferenceQueue", GEN_OBJECT_CLASS, GEN_BOOT,
		      "Lhead JqueueLength", "LNULL" },
	AT(OPTIONAL) = { "java/util/Optional", GEN_OBJECT_CLASS, GEN_BOOT, "Lvalue", "LEMPTY" },
	AT(UUID) = { "java/util/UUID", GEN_OBJECT_CLASS, GEN_BOOT, "JmostSigBits JleastSigBits",
		     "" },
	AT(WEBAPP_LOADER) = { "com/acme/container/WebappClassLoader", GEN_LOADER_CLASS, GEN_APP,
			      "LcontextName LresourceEntries", "" },
	AT(ENTITY) = { "com/acme/core/Entity", GEN_OBJECT_CLASS, GEN_APP, "Jid Lowner Iversion",
		       "JserialVersionUID" },
	AT(MANAGER) = { "com/acme/web/SessionManager", GEN_OBJECT_CLASS, GEN_APP, "Lmaps Icount",
			"LINSTANCE" },
	AT(NAMES) = { "com/acme/core/Names", GEN_OBJECT_CLASS, GEN_APP, "", "LPOOL" },
	AT(SESSION) = { "com/acme/web/Session", GEN_OBJECT_CLASS, GEN_APP,
			"Lid Lattributes Luser Lcart Llog Jcreated Lprevious Ihits Zvalid",
			"ILIMIT" },
	AT(USER) = { "com/acme/account/User", SVC_ENTITY, GEN_APP, "Lname Lemail Laddress Lroles",
		     "" },
	AT(ADDRESS) = { "com/acme/account/Address", GEN_OBJECT_CLASS, GEN_APP, "Lstreet Lcity Izip",
			"" },
	AT(WORKER) = { "com/acme/web/Worker", GEN_OBJECT_CLASS, GEN_APP, "Lsession Lnext", "" },
};

/* Declares class `k` of those by rule; its fields follow from its number. */
static void declare_ruled(struct gen_world *w, uint32_t k)
{
	static const char *const packages[SVC_PACKAGES] = {
		"account", "billing", "catalog", "cart",  "order", "payment", "shipping", "search",
		"pricing", "stock",   "report",  "audit", "mail",  "tax",     "review",   "batch",
	};
	static const char *const nouns[SVC_NOUNS] = {
		"Item",    "Line",     "Rule",  "Policy", "Quote", "Record",
		"Request", "Response", "Entry", "Status", "Batch", "Profile",
	};
	static const char *const suffixes[SVC_SUFFIXES] = {
		"", "Event", "View", "$Builder", "Holder",
	};
	static const char *const fields[] = {
		"Lname",   "Lowner",  "Icount",  "Jtimestamp", "Dprice",
		"Zactive", "Lstatus", "Lparent", "Litems",     "Scode",
		"Fratio",  "Bkind",   "Lsource", "Iflags",     "Ldetail",
	};
	const uint64_t random = gen_hash(0x53455256, k);
	const uint32_t above = random % 8 < 4 ? GEN_OBJECT_CLASS : SVC_ENTITY;
	const unsigned loader =
		random % 16 < 11 ? GEN_APP :
				   GEN_FIRST_OWN_LOADER + (unsigned)(random >> 8) % SVC_WEBAPPS;
	char name[96], spec[256];
	size_t length = 0;

	(void)snprintf(name, sizeof(name), "com/acme/%s/%s%s", packages[k % SVC_PACKAGES],
		       nouns[k / SVC_PACKAGES % SVC_NOUNS], suffixes[k / SVC_PACKAGES / SVC_NOUNS]);
	spec[0] = 0;
	for (size_t f = 0; f < sizeof(fields) / sizeof(*fields); f++)
		if (f == 0 || (random >> (16 + f) & 3) == 0)
			length += (size_t)snprintf(spec + length, sizeof(spec) - length, "%s ",
						   fields[f]);
	(void)gen_class(w, &(struct gen_declaration){ name, above, loader, spec,
						      random & 0x100 ? "JserialVersionUID" : "" });
}

void gen_service_declare(struct gen_world *w)
{
	assert(w->class_count == SVC_ABSTRACT_MAP);
	gen_classes(w, declared, sizeof(declared) / sizeof(*declared));
	for (uint32_t k = 0; k < SVC_RULED; k++)
		declare_ruled(w, k);
}
