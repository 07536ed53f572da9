/** Checks unknown data and tells the way to what is wrong. */
export namespace Schema {
  export type Result<T> = { ok: true; value: T } | { ok: false; errors: string[] };

  export type Infer<S> = S extends Type<infer T> ? T : never;

  export abstract class Type<T> {
    declare readonly _output: T;

    abstract read(value: unknown, path: ReadonlyArray<string | number>): Result<T>;

    parse(value: unknown): T {
      const result = this.read(value, []);
      if (result.ok === false) {
        throw new TypeError(result.errors.join('; '));
      }
      return result.value;
    }

    optional(): Type<T | undefined> {
      return new Optional<T>(this);
    }
  }

  const wrong = (path: ReadonlyArray<string | number>, text: string): { ok: false; errors: string[] } => ({
    ok: false,
    errors: [`${path.length ? path.join('.') : 'value'}: ${text}`],
  });

  class Optional<T> extends Type<T | undefined> {
    constructor(private inner: Type<T>) {
      super();
    }

    read(value: unknown, path: ReadonlyArray<string | number>): Result<T | undefined> {
      return value === undefined ? { ok: true, value } : this.inner.read(value, path);
    }
  }

  class Numeric extends Type<number> {
    private least = -Infinity;
    private most: number | null = null;

    between(least: number, most?: number): this {
      this.least = least;
      this.most = most ?? null;
      return this;
    }

    read(value: unknown, path: ReadonlyArray<string | number>): Result<number> {
      if (typeof value !== 'number' || Number.isNaN(value)) {
        return wrong(path, `a number was expected, not ${JSON.stringify(value)}`);
      } else if (value < this.least || (this.most !== null && value > this.most)) {
        return wrong(path, 'out of range');
      }
      return { ok: true, value };
    }
  }

  class Shape<F extends Record<string, Type<any>>> extends Type<{ [P in keyof F]: Infer<F[P]> }> {
    constructor(readonly fields: F) {
      super();
    }

    read(value: unknown, path: ReadonlyArray<string | number>): Result<{ [P in keyof F]: Infer<F[P]> }> {
      if (typeof value !== 'object' || value === null) return wrong(path, 'an object was expected');
      const output: Record<string, unknown> = {};
      const errors: string[] = [];
      for (const name in this.fields) {
        const result = this.fields[name].read((value as Record<string, unknown>)[name], [...path, name]);
        if (result.ok) {
          output[name] = result.value;
        } else {
          errors.push(...result.errors);
        }
      }
      return errors.length > 0 ? { ok: false, errors } : { ok: true, value: output as any };
    }
  }

  export const number = (): Numeric => new Numeric();
  export const object = <F extends Record<string, Type<any>>>(fields: F) => new Shape(fields);
}

const point = Schema.object({
  x: Schema.number(),
  y: Schema.number().between(0, 100).optional(),
});

export type Point = Schema.Infer<typeof point>;

export function distance(a: Point, b: Point = { x: 0, y: 0 }): number {
  const [dx, dy]: [number, number] = [a.x - b.x, (a.y ?? 0) - (b.y ?? 0)];
  return Math.hypot(dx, dy);
}

export function assertNever(value: never): asserts value is never {
  throw new Error(`unexpected ${value}`);
}
