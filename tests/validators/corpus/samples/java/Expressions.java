package calc;

import java.util.*;
import java.util.function.*;

sealed interface Expression permits Constant, Variable, Binary {
    double value(Map<String, Double> scope);
}

record Constant(double value) implements Expression {
    @Override
    public double value(Map<String, Double> scope) {
        return value;
    }
}

record Variable(String name) implements Expression {
    static int seen = 0;

    public double value(Map<String, Double> scope) {
        Double found = scope.get(name);
        if (found == null) {
            throw new NoSuchElementException("no value for '" + name + "'");
        }
        seen++;
        return found;
    }
}

record Binary(char sign, Expression left, Expression right) implements Expression {
    private static final Map<Character, DoubleBinaryOperator> SIGNS = Map.of(
        '+', (a, b) -> a + b,
        '-', (a, b) -> a - b,
        '*', (a, b) -> a * b,
        '/', (a, b) -> a / b
    );

    public double value(Map<String, Double> scope) {
        return SIGNS.get(sign).applyAsDouble(left.value(scope), right.value(scope));
    }
}

abstract class Parser {
    protected final String text;
    protected int at;

    protected Parser(String text) {
        this.text = Objects.requireNonNull(text, "text");
    }

    abstract Expression parse();

    protected char peek() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
        return at < text.length() ? text.charAt(at) : '\0';
    }

    protected boolean accept(char wanted) {
        boolean fits = peek() == wanted;
        if (fits) at++;
        return fits;
    }
}

class Arithmetic extends Parser {
    private static final String SUM = "+-", PRODUCT = "*/";
    private @Deprecated int depth;

    Arithmetic(String text) {
        super(text);
    }

    @Override
    Expression parse() {
        Expression whole = level(SUM, () -> level(PRODUCT, this::atom));
        if (peek() != '\0') {
            throw error("unexpected '%c'", peek());
        }
        return whole;
    }

    private Expression level(String signs, Supplier<Expression> next) {
        Expression left = next.get();
        while (signs.indexOf(peek()) >= 0 && peek() != '\0') {
            char sign = text.charAt(at++);
            left = new Binary(sign, left, next.get());
        }
        return left;
    }

    private Expression atom() {
        if (accept('(')) {
            if (++depth > 100) throw error("too deep");
            Expression inner = level(SUM, () -> level(PRODUCT, this::atom));
            if (!accept(')')) {
                throw error("')' expected");
            }
            depth -= 1;
            return inner;
        }
        int start = at;
        char first = peek();
        if (Character.isDigit(first) || first == '.') {
            do {
                at++;
            } while (at < text.length() && (Character.isDigit(text.charAt(at)) || text.charAt(at) == '.'));
            return new Constant(Double.parseDouble(text.substring(start, at).trim()));
        }
        StringBuilder name = new StringBuilder();
        for (; at < text.length() && Character.isLetter(text.charAt(at)); at++) {
            name.append(text.charAt(at));
        }
        return switch (name.toString()) {
            case "" -> throw error("nothing at %d", at);
            case "pi", "PI" -> new Constant(Math.PI);
            default -> {
                String key = name.toString().toLowerCase(Locale.ROOT);
                yield new Variable(key);
            }
        };
    }

    private IllegalArgumentException error(String form, Object... parts) {
        return new IllegalArgumentException(String.format(form, parts) + " in " + text);
    }

    public static void main(String[] args) {
        Map<String, Double> scope = new TreeMap<>();
        scope.put("x", args.length > 0 ? Double.valueOf(args[0]) : 2.0);
        int[][] table = new int[3][4];
        table[1][2] = (int) new Arithmetic("1 + 2 * (x - 3)").parse().value(scope);
        Object shown = table[1][2];
        if (shown instanceof Integer number && number != 0) {
            System.out.println("value: " + number);
        }
        label:
        for (int[] row : table) {
            for (int cell : row) {
                if (cell < 0) {
                    continue label;
                }
            }
        }
    }
}
