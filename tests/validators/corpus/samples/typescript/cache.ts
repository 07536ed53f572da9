import { EventEmitter } from 'node:events';
import type { Readable } from 'node:stream';

export type Key = string | number | symbol;
type Loader<K extends Key, V> = (key: K, signal?: AbortSignal) => Promise<V>;
type Plain<T> = { readonly [P in keyof T]: T[P] extends Function ? never : T[P] };

export interface CacheOptions<V> {
  max?: number;
  ttl?: number;
  size?(value: V): number;
  readonly onEvict?: (key: Key, value: V) => void;
}

interface Slot<V> {
  value: V;
  expires: number;
  size: number;
}

export enum Reason {
  Expired = 'expired',
  Full = 'full',
  Deleted = 'deleted',
}

declare const VERSION: string;

export abstract class Base<K extends Key, V> {
  protected abstract readonly name: string;
  abstract get(key: K): V | undefined;

  public toString(): string {
    return `${this.name}@${VERSION}`;
  }
}

function logged(target: unknown, context: ClassMethodDecoratorContext): void {
  console.debug(String(context.name), target);
}

export class Cache<K extends Key, V> extends Base<K, V> implements Iterable<[K, V]> {
  protected readonly name = 'cache';
  private readonly slots = new Map<K, Slot<V>>();
  private readonly pending: Map<K, Promise<V>> = new Map();
  private readonly events = new EventEmitter();
  #total = 0;

  constructor(
    private readonly load: Loader<K, V>,
    private readonly options: CacheOptions<V> = {},
  ) {
    super();
  }

  get size(): number {
    return this.slots.size;
  }

  override get(key: K): V | undefined {
    const slot = this.slots.get(key);
    if (!slot) return undefined;
    if (slot.expires < Date.now()) {
      this.evict(key, Reason.Expired);
      return undefined;
    }
    this.slots.delete(key);
    this.slots.set(key, slot);
    return slot.value;
  }

  @logged
  async fetch(key: K, signal?: AbortSignal): Promise<V> {
    const known = this.get(key);
    if (known !== undefined) {
      return known;
    }
    let waiting = this.pending.get(key);
    if (waiting === undefined) {
      waiting = this.load(key, signal).finally(() => this.pending.delete(key));
      this.pending.set(key, waiting);
    }
    const value = await waiting;
    this.put(key, value);
    return value as V;
  }

  put(key: K, value: V, { ttl = this.options.ttl ?? 60_000 }: { ttl?: number } = {}): this {
    const size = this.options.size?.(value) ?? 1;
    while (this.slots.size >= (this.options.max ?? Infinity)) {
      const oldest = this.slots.keys().next().value;
      this.evict(oldest as K, Reason.Full);
    }
    this.slots.set(key, { value, size, expires: Date.now() + ttl });
    this.#total += size;
    return this;
  }

  private evict(key: K, reason: Reason): void {
    const slot = this.slots.get(key)!;
    this.slots.delete(key);
    this.#total -= slot.size;
    this.options.onEvict?.(key, slot.value);
    this.events.emit('evict', { key, reason } satisfies { key: Key; reason: Reason });
  }

  *[Symbol.iterator](): Iterator<[K, V]> {
    for (const [key, { value }] of this.slots) {
      yield [key, value];
    }
  }
}

export function isReadable(value: unknown): value is Readable {
  return typeof value === 'object' && value !== null && 'pipe' in value;
}

export function pick<T, P extends keyof T>(from: T, ...names: P[]): Pick<T, P> {
  return Object.fromEntries(names.map((name) => [name, from[name]])) as Pick<T, P>;
}

export function first(list: string): string;
export function first<T>(list: readonly T[]): T | undefined;
export function first(list: any): any {
  return list[0];
}

export const frozen = <T extends object>(value: T): Plain<T> => Object.freeze({ ...value }) as Plain<T>;
