/*
 * gen_service_classes.c - see gen_service_classes.h.
 */
#include "gen_service_classes.h"

#include <assert.h>
#include <stdio.h>

struct declaration {
	uint32_t number, super_no;
	unsigned loader;
	const char *name, *fields, *statics;
};

static const struct declaration declared[] = {
	{ SVC_ABSTRACT_MAP, GEN_OBJECT_CLASS, GEN_BOOT, "java/util/AbstractMap", "LkeySet Lvalues",
	  "" },
	{ SVC_HASH_MAP, SVC_ABSTRACT_MAP, GEN_BOOT, "java/util/HashMap",
	  "Ltable Isize LentrySet ImodCount Ithreshold FloadFactor", "IMAXIMUM_CAPACITY" },
	{ SVC_HASH_NODE, GEN_OBJECT_CLASS, GEN_BOOT, "java/util/HashMap$Node",
	  "Ihash Lkey Lvalue Lnext", "" },
	{ SVC_HASH_NODE_ARRAY, GEN_OBJECT_CLASS, GEN_BOOT, "[Ljava/util/HashMap$Node;", "", "" },
	{ SVC_CONCURRENT_MAP, SVC_ABSTRACT_MAP, GEN_BOOT, "java/util/concurrent/ConcurrentHashMap",
	  "Ltable JbaseCount LnextTable IsizeCtl ItransferIndex IcellsBusy LcounterCells",
	  "INCPU" },
	{ SVC_CONCURRENT_NODE, GEN_OBJECT_CLASS, GEN_BOOT,
	  "java/util/concurrent/ConcurrentHashMap$Node", "Ihash Lkey Lval Lnext", "" },
	{ SVC_CONCURRENT_NODE_ARRAY, GEN_OBJECT_CLASS, GEN_BOOT,
	  "[Ljava/util/concurrent/ConcurrentHashMap$Node;", "", "" },
	{ SVC_ABSTRACT_SEQUENTIAL, GEN_ABSTRACT_LIST, GEN_BOOT, "java/util/AbstractSequentialList",
	  "", "" },
	{ SVC_LINKED_LIST, SVC_ABSTRACT_SEQUENTIAL, GEN_BOOT, "java/util/LinkedList",
	  "Lfirst Llast Isize", "" },
	{ SVC_LINKED_NODE, GEN_OBJECT_CLASS, GEN_BOOT, "java/util/LinkedList$Node",
	  "Litem Lnext Lprev", "" },
	{ SVC_DOUBLE, GEN_NUMBER, GEN_BOOT, "java/lang/Double", "Dvalue", "" },
	{ SVC_DATE, GEN_OBJECT_CLASS, GEN_BOOT, "java/util/Date", "JfastTime Lcdate", "" },
	{ SVC_BIG_INTEGER, GEN_NUMBER, GEN_BOOT, "java/math/BigInteger",
	  "Lmag Isignum IbitCountPlusOne IbitLengthPlusOne", "" },
	{ SVC_BIG_DECIMAL, GEN_NUMBER, GEN_BOOT, "java/math/BigDecimal",
	  "LintVal LstringCache Iscale Iprecision JintCompact", "" },
	{ SVC_ATOMIC_LONG, GEN_NUMBER, GEN_BOOT, "java/util/concurrent/atomic/AtomicLong", "Jvalue",
	  "" },
	{ SVC_REFERENCE, GEN_OBJECT_CLASS, GEN_BOOT, "java/lang/ref/Reference",
	  "Lreferent Lqueue Lnext Ldiscovered", "" },
	{ SVC_WEAK, SVC_REFERENCE, GEN_BOOT, "java/lang/ref/WeakReference", "", "" },
	{ SVC_SOFT, SVC_REFERENCE, GEN_BOOT, "java/lang/ref/SoftReference", "Jtimestamp",
	  "Jclock" },
	{ SVC_FINAL, SVC_REFERENCE, GEN_BOOT, "java/lang/ref/FinalReference", "", "" },
	{ SVC_FINALIZER, SVC_FINAL, GEN_BOOT, "java/lang/ref/Finalizer", "Lnext Lprev",
	  "Lunfinalized" },
	{ SVC_QUEUE, GEN_OBJECT_CLASS, GEN_BOOT, "java/lang/ref/ReferenceQueue",
	  "Lhead JqueueLength", "LNULL" },
	{ SVC_OPTIONAL, GEN_OBJECT_CLASS, GEN_BOOT, "java/util/Optional", "Lvalue", "LEMPTY" },
	{ SVC_UUID, GEN_OBJECT_CLASS, GEN_BOOT, "java/util/UUID", "JmostSigBits JleastSigBits",
	  "" },
	{ SVC_WEBAPP_LOADER, GEN_LOADER_CLASS, GEN_APP, "com/acme/container/WebappClassLoader",
	  "LcontextName LresourceEntries", "" },
	{ SVC_ENTITY, GEN_OBJECT_CLASS, GEN_APP, "com/acme/core/Entity", "Jid Lowner Iversion",
	  "JserialVersionUID" },
	{ SVC_MANAGER, GEN_OBJECT_CLASS, GEN_APP, "com/acme/web/SessionManager", "Lmaps Icount",
	  "LINSTANCE" },
	{ SVC_NAMES, GEN_OBJECT_CLASS, GEN_APP, "com/acme/core/Names", "", "LPOOL" },
	{ SVC_SESSION, GEN_OBJECT_CLASS, GEN_APP, "com/acme/web/Session",
	  "Lid Lattributes Luser Lcart Llog Jcreated Lprevious Ihits Zvalid", "ILIMIT" },
	{ SVC_USER, SVC_ENTITY, GEN_APP, "com/acme/account/User", "Lname Lemail Laddress Lroles",
	  "" },
	{ SVC_ADDRESS, GEN_OBJECT_CLASS, GEN_APP, "com/acme/account/Address", "Lstreet Lcity Izip",
	  "" },
	{ SVC_WORKER, GEN_OBJECT_CLASS, GEN_APP, "com/acme/web/Worker", "Lsession Lnext", "" },
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
	for (size_t i = 0; i < sizeof(declared) / sizeof(*declared); i++) {
		const struct declaration *d = &declared[i];

		assert(d->number == w->class_count);
		(void)gen_class(w, &(struct gen_declaration){ d->name, d->super_no, d->loader,
							      d->fields, d->statics });
	}
	for (uint32_t k = 0; k < SVC_RULED; k++)
		declare_ruled(w, k);
}
