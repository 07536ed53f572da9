package shop.stock;

import static java.util.stream.Collectors.groupingBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/** What lies in which shelf. */
public final class Inventory<K extends Comparable<K>> implements AutoCloseable, Iterable<Inventory.Item<K>> {

    public static final int LIMIT = 1_000;
    private static final double[] STEPS = {0.5, 1.0, 2.5};

    private final Map<K, Item<K>> items = new HashMap<>();
    private final List<Listener<? super K>> listeners = new ArrayList<>();
    private volatile boolean closed;

    /** One kind of thing. */
    public record Item<K>(K key, String name, int count, long price) {
        public Item {
            if (count < 0 || price < 0) {
                throw new IllegalArgumentException("less than nothing: " + name);
            }
        }

        long worth() {
            return count * price;
        }
    }

    public enum Change {
        ADDED('+'),
        REMOVED('-') {
            @Override
            boolean loses() {
                return true;
            }
        };

        private final char sign;

        Change(char sign) {
            this.sign = sign;
        }

        boolean loses() {
            return false;
        }
    }

    @FunctionalInterface
    public interface Listener<K> {
        void changed(K key, Change change);

        default Listener<K> then(Listener<? super K> next) {
            return (key, change) -> {
                changed(key, change);
                next.changed(key, change);
            };
        }
    }

    public Inventory(List<? extends Item<K>> first) {
        for (Item<K> item : first) {
            put(item);
        }
    }

    @Override
    public java.util.Iterator<Item<K>> iterator() {
        return items.values().stream().sorted(Comparator.comparing(Item::key)).iterator();
    }

    public synchronized void put(Item<K> item) {
        if (closed) {
            throw new IllegalStateException("closed");
        } else if (items.size() >= LIMIT) {
            throw new IllegalStateException(String.format("more than %d kinds", LIMIT));
        }
        items.merge(item.key(), item, (old, added) ->
            new Item<>(old.key(), old.name(), old.count() + added.count(), Math.max(old.price(), added.price())));
        tell(item.key(), Change.ADDED);
    }

    public Optional<Item<K>> take(K key, int count) {
        Item<K> item = items.get(key);
        if (item == null) {
            return Optional.empty();
        }
        int left = item.count() - count;
        switch (Integer.signum(left)) {
            case -1:
                return Optional.empty();
            case 0:
                items.remove(key);
                break;
            default:
                items.put(key, new Item<>(key, item.name(), left, item.price()));
        }
        tell(key, Change.REMOVED);
        return Optional.of(item);
    }

    private void tell(K key, Change change) {
        int told = 0;
        do {
            if (told < listeners.size()) {
                listeners.get(told).changed(key, change);
            }
            told++;
        } while (told < listeners.size());
    }

    @SafeVarargs
    public final Map<Boolean, List<Item<K>>> split(Predicate<Item<K>>... tests) {
        Predicate<Item<K>> all = item -> true;
        for (int i = 0; i < tests.length; i++) {
            all = all.and(tests[i]);
        }
        return items.values().stream().collect(groupingBy(all::test));
    }

    static int read(Path path, Map<String, Long> prices) throws IOException {
        int bad = 0;
        try (var lines = Files.lines(path)) {
            for (String line : (Iterable<String>) lines::iterator) {
                String[] parts = line.split(";", -1);
                try {
                    prices.put(parts[0], Long.parseLong(parts[1].trim(), 10));
                } catch (NumberFormatException | ArrayIndexOutOfBoundsException wrong) {
                    bad += 1;
                }
            }
        } finally {
            assert bad >= 0 : "counted wrong";
        }
        return bad;
    }

    double discount(long worth) {
        double rate = worth > 10_000L ? STEPS[2] : worth > 1000 ? STEPS[1] : STEPS[0];
        return rate / 100.0 * worth;
    }

    @Override
    public void close() {
        closed = true;
    }
}
