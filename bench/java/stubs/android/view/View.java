package android.view;

import android.content.Context;

public class View {
	public Context mContext;
	public Object mParent;
	public Object mAttachInfo;
	public int mWindowAttachCount;
	public int mID = -1;
}
