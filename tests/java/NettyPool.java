import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;

/**
 * Takes direct buffers from Netty's pooled or adaptive allocator and releases three of four of the
 * large ones. Prints how much is then in use and sleeps.
 */
public class NettyPool {
    static final List<ByteBuf> kept = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        final boolean pooled = args[0].equals("pooled");
        final ByteBufAllocator allocator = pooled ? PooledByteBufAllocator.DEFAULT
            : (ByteBufAllocator) Class.forName("io.netty.buffer.AdaptiveByteBufAllocator")
                .getConstructor().newInstance();
        final List<ByteBuf> all = new ArrayList<>();
        long bytes = 0;

        for (int i = 0; i < 100; i++) all.add(allocator.directBuffer(700_000).setZero(0, 700_000));
        for (int i = 0; i < 100; i++) {
            if (i % 4 != 0) all.get(i).release();
            else kept.add(all.get(i));
        }
        for (int i = 0; i < 500; i++) kept.add(allocator.directBuffer(2048));
        kept.add(allocator.heapBuffer(50_000));
        for (ByteBuf buffer : kept) bytes += buffer.isDirect() ? buffer.capacity() : 0;
        System.out.println(pooled ? PooledByteBufAllocator.DEFAULT.pinnedDirectMemory() : bytes);
        Thread.sleep(600_000);
    }
}
