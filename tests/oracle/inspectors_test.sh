#!/bin/sh
# tests/oracle/inspectors_test.sh - each rule about single objects (inspect/inspect.rules) has dumps in which it applies
# and dumps in which it must not: objects with the fields of Android, androidx and others. The rules are read from the
# table itself, and a rule without a case fails.
set -eu
command -v python3 >/dev/null || { echo "no python3 here"; exit 77; }
export PYTHONPATH="$HDB_ROOT/tests/oracle" PYTHONDONTWRITEBYTECODE=1
cd "$TMPDIR"
python3 - "$HDB_ROOT/src/queries/inspect/inspect.rules" <<'PY'
import json, subprocess, sys
from android_dump import Dump

bad = 0

def complain(text):
    global bad
    bad += 1
    print(text)

# ---- the rules ----

rules = []
for line in open(sys.argv[1]):
    key, _, value = line.strip().partition(' ')
    if key == 'rule':
        rules.append(('', value.strip()))
    elif key == 'class':
        rules[-1] = (value.strip(), rules[-1][1])
if len(rules) < 30 or len(set(rules)) != len(rules):
    complain('%d rules were read, %d different ones' % (len(rules), len(set(rules))))

# ---- objects with their fields ----

def frame(d):
    """Classes that several cases need."""
    d.define('java.lang.Enum', 'java.lang.Object', 'L name', 'I ordinal')
    d.define('java.lang.Thread', 'java.lang.Object', 'L name')
    d.define('java.util.ArrayList', 'java.lang.Object', 'L elementData', 'I size')
    d.define('java.lang.ref.Reference', 'java.lang.Object', 'L referent')
    d.define('java.lang.ref.WeakReference', 'java.lang.ref.Reference')
    d.define('android.util.ArrayMap', 'java.lang.Object', 'L mArray', 'I mSize')
    d.define('android.content.Context')
    d.define('android.content.ContextWrapper', 'android.content.Context', 'L mBase')
    d.define('android.app.ContextImpl', 'android.content.Context', 'L mOuterContext')
    d.define('android.app.Application', 'android.content.ContextWrapper')
    d.define('android.app.Activity', 'android.content.ContextWrapper', 'Z mDestroyed')
    d.define('android.app.Service', 'android.content.ContextWrapper')
    d.define('android.app.ActivityThread', 'java.lang.Object', 'L mServices')
    d.define('android.app.ApplicationPackageManager', 'java.lang.Object', 'L mContext')
    d.define('android.app.Dialog', 'java.lang.Object', 'L mDecor')
    d.define('android.app.LoadedApk', 'java.lang.Object', 'L mReceivers')
    d.define('android.view.View', 'java.lang.Object', 'L mParent', 'L mAttachInfo', 'L mContext', 'I mID',
             'I mWindowAttachCount')
    d.define('android.view.Window', 'java.lang.Object', 'Z mDestroyed', 'L mContext')
    d.define('android.view.ViewRootImpl', 'java.lang.Object', 'L mView', 'L mContext', 'L mWindowAttributes')
    d.define('android.view.inputmethod.InputMethodManager')
    d.define('android.widget.Editor', 'java.lang.Object', 'L mTextView')
    d.define('android.widget.Toast', 'java.lang.Object', 'L mTN')
    d.define('android.widget.Toast$TN', 'java.lang.Object', 'L mWM', 'L mView')
    d.define('android.os.Binder', 'java.lang.Object', 'L mDescriptor')
    d.define('android.os.Message', 'java.lang.Object', 'I what', 'J when', 'L obj', 'L callback', 'L target', 'L next')
    d.define('android.os.MessageQueue', 'java.lang.Object', 'Z mQuitting', 'L mMessages')
    d.define('android.animation.Animator', 'java.lang.Object', 'L mListeners')
    d.define('android.animation.ValueAnimator', 'android.animation.Animator', 'Z mRunning', 'J mDuration')
    d.define('android.animation.ObjectAnimator', 'android.animation.ValueAnimator', 'L mPropertyName', 'L mProperty',
             'L mTarget')
    for name in 'android.app.Fragment', 'android.support.v4.app.Fragment':
        d.define(name, 'java.lang.Object', 'L mFragmentManager', 'L mTag')
    d.define('androidx.lifecycle.LifecycleRegistry', 'java.lang.Object', 'L mState')
    d.define('androidx.lifecycle.Lifecycle$State', 'java.lang.Enum')
    d.define('androidx.fragment.app.Fragment', 'java.lang.Object', 'L mFragmentManager',
         'L mLifecycleRegistry', 'L mTag',
             'Z mCalled', 'L mMaxState')
    d.define('androidx.lifecycle.ViewModel', 'java.lang.Object', 'Z mCleared')
    d.define('androidx.compose.runtime.Recomposer', 'java.lang.Object', 'L _state')
    d.define('kotlinx.coroutines.flow.StateFlowImpl', 'java.lang.Object', 'L _state')
    d.define('androidx.compose.runtime.Recomposer$State', 'java.lang.Enum')
    d.define('androidx.compose.runtime.CompositionImpl', 'java.lang.Object', 'Z disposed')
    d.define('mortar.Presenter', 'java.lang.Object', 'L view')
    d.define('mortar.MortarScope', 'java.lang.Object', 'Z dead', 'L name')
    d.define('com.squareup.coordinators.Coordinator', 'java.lang.Object', 'Z attached')
    d.define('java.lang.ClassLoader')

def screen(d, destroyed):
    d.define('app.Screen', 'android.app.Activity')
    return d.new('app.Screen', mDestroyed=destroyed)

def state(d, cls, name):
    return d.new(cls, name=d.string(name))

def registry(d, name):
    return d.new('androidx.lifecycle.LifecycleRegistry', mState=state(d, 'androidx.lifecycle.Lifecycle$State', name))

def array_map(d, *items):
    return d.new('android.util.ArrayMap', mArray=d.array('java.lang.Object', items), mSize=len(items) // 2)

def listeners(d, *items):
    return d.new('java.util.ArrayList', elementData=d.array('java.lang.Object', items), size=len(items))

def known_services(d, service):
    d.static('android.app.ActivityThread', 'sCurrentActivityThread', d.new(
        'android.app.ActivityThread', mServices=array_map(d, d.new('android.os.Binder'), service)))

def view(d, context=0, attached=False, count=0):
    parent = d.new('android.view.ViewRootImpl', mView=d.new('java.lang.Object'))
    return dict(mParent=parent, mAttachInfo=d.new('android.view.View$AttachInfo') if attached else 0, mContext=context,
                mWindowAttachCount=count)

def gone_view(d):
    return d.new('android.view.View', **view(d, count=1))

def recomposer(d, name):
    return dict(_state=d.new('kotlinx.coroutines.flow.StateFlowImpl',
                             _state=state(d, 'androidx.compose.runtime.Recomposer$State', name)))

def impl(d, destroyed):
    return d.new('android.app.ContextImpl', mOuterContext=screen(d, destroyed))

def handler_thread(d):
    d.define('android.os.Handler', 'java.lang.Object', 'L mLooper')
    d.define('android.os.Looper', 'java.lang.Object', 'L mThread')
    looper = d.new('android.os.Looper', mThread=d.new('java.lang.Thread', name=d.string('db')))
    return dict(mMessages=d.new('android.os.Message', target=d.new('android.os.Handler', mLooper=looper)))

GONE, THERE, OPEN = 'leaking', 'not leaking', 'unknown'

# Rule: cases of (description, fields, status, words in reason and labels; '-words' must be absent). The object's class
# is a subclass of the rule's class; another class can be given by name.
V, A = 'android.view.', 'android.app.'
cases = {
    ('java.lang.ClassLoader', 'class-loaders'): [('one', {}, THERE, 'a class loader is never leaking'),
                                         ('no loader', {}, OPEN, '-loaders', 'java.lang.Object')],
    ('', 'anonymous-classes'): [('anonymous', {}, OPEN, 'Anonymous subclass of app.Base', 'app.Base', 'app.Outer$1'),
                                ('named', {}, OPEN, '-Anonymous', 'app.Base', 'app.Outer$Inner')],
    ('java.lang.Thread', 'threads'): [('named', lambda d: dict(name=d.string('worker')), OPEN,
         "Thread name: 'worker'"),
                                             ('nameless', {}, OPEN, '-Thread name')],
    (V + 'View', 'views'): [
        ('of a destroyed activity', lambda d: view(d, screen(d, True)), GONE, 'destroyed activity'),
        ('detached', lambda d: view(d, count=1), GONE, 'detached'),
        ('attached', lambda d: view(d, screen(d, False), True, 1), THERE, 'attached to a window'),
        ('never attached', lambda d: view(d, screen(d, False)), OPEN, 'View.mWindowAttachCount = 0')],
    ('android.widget.Editor', 'editors'): [
        ('of a detached view', lambda d: dict(mTextView=gone_view(d)), GONE, 'Editor#mTextView: detached'),
        ('of none', {}, OPEN, '-Editor#')],
    (A + 'Activity', 'activities'): [('destroyed', dict(mDestroyed=True), GONE, 'mDestroyed'),
                                     ('in use', dict(mDestroyed=False), THERE, 'mDestroyed')],
    (A + 'Service', 'services'): [('stopped', lambda d: known_services(d, 0) or {}, GONE, 'does not know'),
                                         ('nothing known', {}, OPEN, '-know')],
    ('', 'fields-with-contexts'): [('a context', {}, OPEN, 'toLeak: app.Leak, mDestroyed = true', 'app.Plain'),
                                     ('no context', lambda d: dict(other=d.new('java.lang.Object')), OPEN, '-other:',
                                      'app.Other')],
    ('android.content.ContextWrapper', 'context-wrappers'): [
        ('of a destroyed activity', lambda d: dict(mBase=screen(d, True)), GONE, 'wraps a destroyed activity'),
        ('of one in use', lambda d: dict(mBase=screen(d, False)), OPEN, 'wraps an activity in use'),
        ('of the application', lambda d: dict(mBase=d.new(A + 'Application')), OPEN, 'wraps the application'),
        ('of itself', {}, OPEN, 'wraps no known context')],
    (A + 'ApplicationPackageManager', 'package-managers'): [
        ('of a destroyed activity', lambda d: dict(mContext=impl(d, True)), GONE, 'mOuterContext'),
        ('of one in use', lambda d: dict(mContext=impl(d, False)), THERE, 'mOuterContext'),
        ('of none', {}, OPEN, '-mOuterContext')],
    (A + 'ContextImpl', 'contexts'): [
        ('of a destroyed activity', lambda d: dict(mOuterContext=screen(d, True)), GONE,
             'mOuterContext is the destroyed'),
        ('of the application', lambda d: dict(mOuterContext=d.new(A + 'Application')), THERE, 'the application'),
        ('of none', {}, OPEN, '-mOuterContext')],
    (A + 'Dialog', 'dialogs'): [('shown', lambda d: dict(mDecor=d.new(V + 'View')), OPEN, 'mDecor is not null'),
                               ('hidden', {}, OPEN, 'mDecor is null')],
    (A + 'ActivityThread', 'activity-thread'): [('one', {}, THERE, 'one in each process'),
                                      ('another class', {}, OPEN, '-one in each', 'app.ActivityThreads')],
    (A + 'Application', 'application'): [('one', {}, THERE, 'one in each process'),
                                   ('a context', {}, OPEN, '-one in each', 'android.content.Context')],
    (V + 'inputmethod.InputMethodManager', 'input-method-manager'): [('one', {}, THERE, 'one in each process'),
                                                      ('another class', {}, OPEN, '-one in each', 'app.Manager')],
    (A + 'Fragment', 'fragments'): [
        ('gone', lambda d: dict(mTag=d.string('list')), GONE, 'Fragment.mTag=list'),
        ('in use', lambda d: dict(mFragmentManager=d.new('android.app.FragmentManagerImpl')), THERE, '-mTag')],
    ('android.support.v4.app.Fragment', 'support-fragments'): [
        ('gone', lambda d: dict(mTag=d.string('list')), GONE, 'Fragment.mTag=list'),
        ('in use', lambda d: dict(mFragmentManager=d.new('android.support.v4.app.FragmentManagerImpl')), THERE,
             '-mTag')],
    ('androidx.fragment.app.Fragment', 'androidx-fragments'): [
        ('destroyed', lambda d: dict(mLifecycleRegistry=registry(d, 'DESTROYED'), mTag=d.string('list')), GONE,
         'state is DESTROYED'),
        ('resumed', lambda d: dict(mLifecycleRegistry=registry(d, 'RESUMED')), THERE, 'state is RESUMED'),
        ('back at its beginning', lambda d: dict(mLifecycleRegistry=registry(d, 'INITIALIZED'), mCalled=True), GONE,
         'state is INITIALIZED'),
        ('at its beginning', lambda d: dict(mLifecycleRegistry=registry(d, 'INITIALIZED')), THERE,
             'state is INITIALIZED'),
        ('without', {}, OPEN, 'mLifecycleRegistry = null')],
    ('androidx.lifecycle.ViewModel', 'view-models'): [('cleared', dict(mCleared=True), GONE, 'mCleared'),
                                                                  ('in use', {}, OPEN, '-leaking')],
    ('android.os.MessageQueue', 'message-queues'): [('quitting', dict(mQuitting=True), GONE, 'mQuitting'),
                                                        ('in use', {}, THERE, '-HandlerThread'),
                                                        ('of a thread', handler_thread, THERE, 'HandlerThread: "db"')],
    (A + 'LoadedApk', 'loaded-apks'): [
        ('receivers', lambda d: dict(mReceivers=array_map(d, screen(d, False), array_map(d,
             d.new('app.Receiver'), 0))), OPEN,
         'Receivers'),
        ('none', lambda d: dict(mReceivers=array_map(d)), OPEN, '-Receivers')],
    ('mortar.Presenter', 'presenters'): [('with', lambda d: dict(view=d.new('app.Thing')), OPEN, 'view is not null'),
                                   ('without', {}, OPEN, 'view is null')],
    ('mortar.MortarScope', 'mortar-scopes'): [
        ('dead', lambda d: dict(dead=True, name=d.string('main')), GONE, 'MortarScope#dead is true'),
        ('alive', {}, THERE, 'MortarScope#dead is false')],
    ('com.squareup.coordinators.Coordinator', 'coordinators'): [
        ('attached', dict(attached=True), OPEN, 'attached is true'),
        ('detached', {}, OPEN, 'attached is false')],
    ('java.lang.Thread', 'main-thread'): [('main', lambda d: dict(name=d.string('main')), THERE,
         'the main thread'),
                                                  ('another', lambda d: dict(name=d.string('mainly')), OPEN,
                                                       '-the main')],
    (V + 'ViewRootImpl', 'view-roots'): [
        ('without a view', {}, GONE, 'ViewRootImpl#mView is null'),
        ('of a destroyed activity', lambda d: dict(mView=d.new(V + 'View'), mContext=screen(d, True)), GONE,
             'destroyed'),
        ('in use', lambda d: dict(mView=d.new(V + 'View'), mContext=screen(d, False)), OPEN, 'mView is not null')],
    (V + 'Window', 'windows'): [('destroyed', dict(mDestroyed=True), GONE, 'mDestroyed'),
                                   ('in use', {}, OPEN, 'mDestroyed')],
    ('android.os.Message', 'messages'): [('one', dict(what=7, when=12), OPEN, 'Message.what = 7'),
                                                ('another class', {}, OPEN, '-Message.what', 'app.Message')],
    ('android.widget.Toast', 'toasts'): [
        ('hidden', lambda d: dict(mTN=d.new('android.widget.Toast$TN', mWM=d.new('app.Thing'))), GONE, 'is now hidden'),
        ('shown', lambda d: dict(mTN=d.new('android.widget.Toast$TN', mWM=d.new('app.Thing'),
             mView=d.new(V + 'View'))), THERE,
         'the toast is shown'),
        ('never shown', lambda d: dict(mTN=d.new('android.widget.Toast$TN')), OPEN, '-shown')],
    ('androidx.compose.runtime.Recomposer', 'recomposers'): [
        ('shut down', lambda d: recomposer(d, 'ShutDown'), GONE, "state is ShutDown"),
        ('idle', lambda d: recomposer(d, 'Idle'), THERE, "state is Idle"),
        ('inactive', lambda d: recomposer(d, 'Inactive'), OPEN, "state is Inactive")],
    ('androidx.compose.runtime.CompositionImpl', 'compositions'): [
        ('disposed', dict(disposed=True), GONE, 'disposed is true'), ('in use', {}, THERE, 'disposed is false')],
    ('android.animation.Animator', 'animators'): [
        ('listeners', lambda d: dict(mListeners=listeners(d, d.new('app.Thing'))), OPEN, 'mListeners[0] = app.Thing'),
        ('none', {}, OPEN, 'mListeners = null')],
    ('android.animation.ObjectAnimator', 'object-animators'): [
        ('by name', lambda d: dict(mPropertyName=d.string('alpha')), OPEN, 'mPropertyName = alpha'),
        ('another animator', {}, OPEN, '-mPropertyName', 'android.animation.ValueAnimator')],
    ('androidx.lifecycle.LifecycleRegistry', 'lifecycle-registries'): [
        ('resumed', lambda d: dict(mState=state(d, 'androidx.lifecycle.Lifecycle$State', 'RESUMED')), THERE,
             'state is RESUMED'),
        ('destroyed', lambda d: dict(mState=state(d, 'androidx.lifecycle.Lifecycle$State', 'DESTROYED')), OPEN,
         'state = DESTROYED')],
    ('android.os.Binder', 'binders'): [('one', {}, OPEN, 'a binder stub'),
                                              ('another class', {}, OPEN, '-binder', 'app.Binder')],
}

for rule in rules:
    if len(cases.get(rule, ())) < 2:
        complain('%s has no case, or none where it must not speak' % (rule,))
for rule in cases:
    if rule not in rules:
        complain('%s is no rule' % (rule,))

tried = 0
for (cls, _), list_of in cases.items():
    for what, fields, status, words, *more in list_of:
        above = more[0] if more else cls
        own = more[1] if len(more) > 1 else 'app.Looked'
        d = Dump(sdk=30)
        frame(d)
        d.define(above)
        d.define(own, above, 'L toLeak', 'L other')
        d.define('app.Leak', 'android.app.Activity')
        leak = d.new('app.Leak', mDestroyed=True)
        fields = fields(d) if callable(fields) else fields
        d.static('app.Holder', 'kept', d.new(own, toLeak=leak, **fields))
        d.write('rule.hprof')
        subprocess.run(['heapdb', 'import', '--force', '--quiet', 'rule.hprof'], check=True, stdout=subprocess.DEVNULL)
        rows = json.loads(subprocess.run(['heapdb', 'query', 'leak-traces', '--db', 'rule.heapdb', '--json'],
                                         check=True, capture_output=True, text=True).stdout)['rows']
        looked = [row for row in rows if row['class'] == own]
        tried += 1
        if not looked:
            complain('%s, %s: not on a path' % (cls, what))
            continue
        said = '%s; %s' % (looked[0]['reason'] or '', looked[0]['labels'] or '')
        if looked[0]['status'] != status:
            complain('%s, %s: %s, not %s (%s)' % (cls, what, looked[0]['status'], status, said))
        if (words.lstrip('-') in said) == words.startswith('-'):
            complain('%s, %s: "%s" in %s' % (cls, what, words, said))

# A service that the activity thread knows.
d = Dump(sdk=30)
frame(d)
d.define('app.Leak', 'android.app.Activity')
d.define('app.Looked', 'android.app.Service', 'L toLeak')
service = d.new('app.Looked', toLeak=d.new('app.Leak', mDestroyed=True))
known_services(d, service)
d.write('rule.hprof')
subprocess.run(['heapdb', 'import', '--force', '--quiet', 'rule.hprof'], check=True, stdout=subprocess.DEVNULL)
rows = json.loads(subprocess.run(['heapdb', 'query', 'leak-traces', '--db', 'rule.heapdb', '--json'], check=True,
                                 capture_output=True, text=True).stdout)['rows']
have = [(row['status'], 'knows this service' in row['reason']) for row in rows if row['class'] == 'app.Looked']
if have != [(THERE, True)]:
    complain('a known service: %r' % have)
print('%d cases of %d rules' % (tried + 1, len(rules)))
sys.exit(bad != 0)
PY
