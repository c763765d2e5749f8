#!/bin/sh
# android_rules_test.sh - leaking objects by Android's life cycles, in a HotSpot heap whose classes have the names and
# fields of Android's classes: which objects leak and which do not, one leak for all objects that the same references
# keep, known leaks of libraries, and other paths, which are preferred to these. Needs a JDK. Names of classes in single
# quotes are not for the shell to
# expand:
# shellcheck disable=SC2016
set -eu
for tool in java javac; do
	command -v $tool > /dev/null || { echo "no $tool here"; exit 77; }
done
cd "$TMPDIR"

# class NAME [EXTENDS] MEMBERS: a source file, NAME with its package.
class() {
	path=$(echo "$1" | tr . /)
	mkdir -p "src/$(dirname "$path")"
	echo "package ${1%.*}; public class ${1##*.} ${2:+extends $2} { $3 }" > "src/$path.java"
}
class android.os.Build '' 'public static String MANUFACTURER = "Acme", ID = "A1";
	public static class VERSION { public static int SDK_INT = 28; }'
class android.content.Context '' ''
class android.content.ContextWrapper android.content.Context 'public android.content.Context mBase;'
class android.app.Activity android.content.ContextWrapper 'public boolean mDestroyed; public Object window;'
class android.app.Service android.content.ContextWrapper ''
class android.util.ArrayMap '' 'public Object[] mArray = new Object[8];'
class android.app.ActivityThread '' 'public static ActivityThread sCurrentActivityThread;
	public android.util.ArrayMap mServices = new android.util.ArrayMap();'
class android.view.View '' 'public Object mParent, mAttachInfo; public int mWindowAttachCount;
	public android.content.Context mContext;'
class android.view.Window '' 'public boolean mDestroyed; public android.content.Context mContext;'
class com.android.internal.policy.DecorView android.view.View ''
class android.view.inputmethod.InputMethodManager '' 'public static InputMethodManager sInstance;
	public Object mServedView, mCurRootView, mImeInsetsConsumer;'
class androidx.lifecycle.LifecycleRegistry '' 'public enum State { DESTROYED, INITIALIZED, CREATED }
	public State state;'
class androidx.lifecycle.ViewModel '' 'public boolean mCleared;'
class androidx.fragment.app.Fragment '' 'public androidx.lifecycle.LifecycleRegistry mLifecycleRegistry;
	public Object mMaxState = androidx.lifecycle.LifecycleRegistry.State.CREATED;
	public Object mFragmentManager; public boolean mCalled;'
class com.android.internal.policy.DecorContext android.content.ContextWrapper 'public Object mPhoneWindow;'
class android.app.ContextImpl android.content.Context 'public Object mOuterContext;'
class android.app.ApplicationPackageManager '' 'public android.app.ContextImpl mContext;'
class android.widget.Editor '' 'public android.view.View mTextView;'
class android.widget.TN '' 'public Object mWM, mView;'
class android.widget.Toast '' 'public android.widget.TN mTN = new android.widget.TN();'
class app.Themed android.content.ContextWrapper ''
class leakcanary.KeyedWeakReference 'java.lang.ref.WeakReference<Object>' 'public long retainedUptimeMillis;
	public KeyedWeakReference(Object o, long at) { super(o); retainedUptimeMillis = at; }'
class app.Screen android.app.Activity ''
class app.Listener '' 'public Object screen;'
class app.Presenter '' ''
class app.Bus '' 'public static java.util.List<Object> listeners = new java.util.ArrayList<>();'
class app.Kept '' 'public static Object alive, model, liveModel, fragment, liveFragment, decor, service, known,
	presenter, fresh, deep; public static Object[] references = new Object[2];'
class app.Main '' '
	static android.app.Activity screen(boolean destroyed) {
		android.app.Activity a = new Screen(); a.mDestroyed = destroyed; return a;
	}
	static Object listener(Object screen) { Listener l = new Listener(); l.screen = screen; return l; }
	static Object fragment(androidx.lifecycle.LifecycleRegistry.State state) {
		androidx.fragment.app.Fragment f = new androidx.fragment.app.Fragment();
		f.mLifecycleRegistry = new androidx.lifecycle.LifecycleRegistry();
		f.mLifecycleRegistry.state = state; return f;
	}
	static Object model(boolean cleared) {
		androidx.lifecycle.ViewModel m = new androidx.lifecycle.ViewModel(); m.mCleared = cleared; return m;
	}
	public static void main(String[] args) throws Exception {
		for (int i = 0; i < 3; i++) {
			android.app.Activity a = screen(true);
			Bus.listeners.add(listener(a));
			android.view.Window w = new android.view.Window(); w.mDestroyed = true; a.window = w;
		}
		Kept.alive = screen(false);
		Kept.model = model(true); Kept.liveModel = model(false);
		Kept.fragment = fragment(androidx.lifecycle.LifecycleRegistry.State.DESTROYED);
		Kept.liveFragment = fragment(androidx.lifecycle.LifecycleRegistry.State.CREATED);
		com.android.internal.policy.DecorView decor = new com.android.internal.policy.DecorView();
		decor.mWindowAttachCount = 1; Kept.decor = decor;
		android.app.ActivityThread.sCurrentActivityThread = new android.app.ActivityThread();
		Kept.service = new android.app.Service(); Kept.known = new android.app.Service();
		android.app.ActivityThread.sCurrentActivityThread.mServices.mArray[1] = Kept.known;
		Kept.presenter = new Presenter(); Kept.fresh = new Presenter();
		Kept.references[0] = new leakcanary.KeyedWeakReference(Kept.presenter, 5000);
		Kept.references[1] = new leakcanary.KeyedWeakReference(Kept.fresh, -1);
		android.view.inputmethod.InputMethodManager m = new android.view.inputmethod.InputMethodManager();
		android.view.inputmethod.InputMethodManager.sInstance = m;
		android.view.View served = new android.view.View();
		served.mContext = screen(true); m.mServedView = served;
		m.mCurRootView = screen(true);
		Kept.deep = listener(listener(m.mCurRootView));
		if (args.length > 1) { android.os.Build.VERSION.SDK_INT = 30; }
		android.app.Activity local = screen(true);
		java.lang.management.ManagementFactory.getPlatformMXBean(
			com.sun.management.HotSpotDiagnosticMXBean.class).dumpHeap(args[0], true);
		System.out.println(local.mDestroyed);
	}'
# Objects that wrap or show an activity, older kinds of fragments, toasts: of each, one that is leaking and one that is
# not.
class app.More '' '
	static android.content.ContextWrapper themed(android.content.Context base) {
		Themed t = new Themed(); t.mBase = base; return t;
	}
	static Object decor(android.content.Context context) {
		com.android.internal.policy.DecorContext d = new com.android.internal.policy.DecorContext();
		android.view.Window w = new android.view.Window(); w.mContext = context; d.mPhoneWindow = w; return d;
	}
	static android.app.ContextImpl impl(Object outer) {
		android.app.ContextImpl c = new android.app.ContextImpl(); c.mOuterContext = outer; return c;
	}
	static Object manager(Object outer) {
		android.app.ApplicationPackageManager m = new android.app.ApplicationPackageManager();
		m.mContext = impl(outer); return m;
	}
	static Object editor(android.content.Context context) {
		android.widget.Editor e = new android.widget.Editor(); e.mTextView = new android.view.View();
		e.mTextView.mContext = context; return e;
	}
	static Object fragment(Object manager, boolean called) {
		androidx.fragment.app.Fragment f = (androidx.fragment.app.Fragment)
			Main.fragment(androidx.lifecycle.LifecycleRegistry.State.INITIALIZED);
		f.mFragmentManager = manager; f.mCalled = called; return f;
	}
	static Object toast(Object manager, Object view) {
		android.widget.Toast t = new android.widget.Toast(); t.mTN.mWM = manager; t.mTN.mView = view; return t;
	}
	static Object themed, decor, impl, manager, editor, fragment, toast;
	static Object liveThemed, liveDecor, liveImpl, liveManager, liveEditor, young, kept, shown, waiting;
	public static void main(String[] args) throws Exception {
		android.app.Activity live = Main.screen(false);
		themed = themed(themed(Main.screen(true))); liveThemed = themed(live);
		decor = decor(Main.screen(true)); liveDecor = decor(live);
		impl = impl(Main.screen(true)); liveImpl = impl(live);
		manager = manager(Main.screen(true)); liveManager = manager(live);
		editor = editor(Main.screen(true)); liveEditor = editor(live);
		fragment = fragment(null, true); young = fragment(null, false); kept = fragment("", true);
		toast = toast("", null); shown = toast("", ""); waiting = toast(null, null);
		java.lang.management.ManagementFactory.getPlatformMXBean(
			com.sun.management.HotSpotDiagnosticMXBean.class).dumpHeap(args[0], true);
	}'
find src -name '*.java' > list
javac -J-XX:TieredStopAtLevel=1 -d classes @list
failed=0
complain() {
	echo "FAILED: $*"
	cat rows
	failed=1
}

# ask [ARGUMENT]: the answer on a new dump of $program.
program=app.Main
ask() {
	rm -f dump.hprof
	java -Xint -XX:+UseSerialGC -Xmx64m -cp classes $program dump.hprof "$@" > java.log 2>&1 ||
		{ cat java.log; exit 1; }
	heapdb import dump.hprof -o dump.heapdb --force --quiet > import.log
	heapdb query leaks --table --db dump.heapdb | tr "\n" " " | sed "s/  */ /g" > facts
	heapdb query leaks --db dump.heapdb --csv --columns suspect,kind,class,via_field,objects,text |
		grep -E ',(leaking|library|trace),' > rows
}

# leak CLASS HOLDER COUNT REASON [KIND]: such a leak is listed.
leak() {
	grep -qE "^[0-9]+,${5:-leaking},$1,$2,$3,\"?$4; " rows || complain "no $3 of $1 kept by $2"
}
state='Fragment.mLifecycleRegistry.state is (DESTROYED|INITIALIZED)'
ask
leak app.Screen 'app\.Bus\.listeners \(static\)' 3 'Activity#mDestroyed is true'
leak androidx.lifecycle.ViewModel 'app\.Kept\.model \(static\)' 1 'ViewModel#mCleared is true'
leak androidx.fragment.app.Fragment 'app\.Kept\.fragment \(static\)' 1 "$state"
leak com.android.internal.policy.DecorView 'app\.Kept\.decor \(static\)' 1 'it is the leaking object'
leak android.app.Service 'app\.Kept\.service \(static\)' 1 'the activity thread does not know this service'
leak app.Presenter 'app\.Kept\.presenter \(static\)' 1 'a watcher expects it to be collected'
# A shorter path exists through a field that is known to leak, but this path is the program's own.
leak app.Screen 'app\.Kept\.deep \(static\)' 1 'Activity#mDestroyed is true'
# The only path goes through the library; the contents of the view are not listed again.
leak android.view.View 'android.view.inputmethod.InputMethodManager.mServedView' 1 \
	'View.mContext is of a destroyed activity; known library leak: INPUT_METHOD_MANAGER .*' library
[ "$(grep -cE ',(leaking|library),' rows)" = 8 ] || complain "not 8 leaks"
grep -E ',(leaking|library),' rows | tail -n 1 | grep -q ',library,' || complain "libraries are not last"
grep -q 'library leaks: 1;' facts || complain "libraries are not counted"
grep -q 'held by others: 4;' facts || complain "not 4 that others hold: three windows, the served view's activity"
grep -q 'leaking objects: 14;' facts || complain "not 14 objects"
# Suspect references: from the class, which stays alive, to the listener's field.
sed -n '/^[0-9]*,leaking,app.Screen,app.Bus/,/,leaking,androidx/p' rows | grep ',trace,' |
	sed 's/^[0-9]*,trace,//' | tail -n 4 > trace
cat > want << 'END'
class app.Bus,static listeners,,Leaking: NO (classes stay); ~~~ suspect reference
java.util.ArrayList,[0],11,Leaking: UNKNOWN; ~~~ suspect reference
app.Listener,screen,3,"Leaking: UNKNOWN; ~~~ suspect reference; screen: app.Screen, mDestroyed = true"
app.Screen,,2,Leaking: YES (Activity#mDestroyed is true)
END
diff -u want trace || complain "another trace"
heapdb report dump.heapdb > report.md
head -n 12 report.md |
	grep -qF '**Leaking object: `app.Screen`, kept by `app.Bus.listeners (static)` - Activity\#mDestroyed' ||
	complain "the first lines do not tell the first leak"
grep -q '^    [0-9]*\. Library leak: ' report.md || complain "the report does not tell libraries' leaks apart"
heapdb query triage --db dump.heapdb --csv --columns severity,rule,count,detail > rules
grep -qx 'warning,leaking-objects,14,kept by app.Bus.listeners (static)' rules || { complain "triage"; cat rules; }
program=app.More
ask
leak app.Themed 'app\.More\.themed \(static\)' 1 'Themed wraps a destroyed activity'
leak com.android.internal.policy.DecorContext 'app\.More\.decor \(static\)' 1 'DecorContext wraps a destroyed activity'
leak android.app.ContextImpl 'app\.More\.impl \(static\)' 1 \
	'ContextImpl.mOuterContext is the destroyed activity app.Screen'
leak android.app.ApplicationPackageManager 'app\.More\.manager \(static\)' 1 \
	'ApplicationPackageManager.mContext.mOuterContext is the destroyed activity app.Screen'
leak android.widget.Editor 'app\.More\.editor \(static\)' 1 \
	'Editor#mTextView: View.mContext is of a destroyed activity'
leak androidx.fragment.app.Fragment 'app\.More\.fragment \(static\)' 1 "$state"
leak android.widget.Toast 'app\.More\.toast \(static\)' 1 'the toast was shown and is now hidden'
[ "$(grep -cE ',(leaking|library),' rows)" = 7 ] || complain "not 7 leaks"
program=app.Main
# On another Android version the fields are not known to leak, so what they hold is reported as any other leak.
ask newer
grep -q 'library leaks' facts && complain "a library's leak in a version that has none"
leak app.Screen 'android.view.inputmethod.InputMethodManager.mCurRootView' 1 'Activity#mDestroyed is true'
exit $failed
