// A small observable store with undo, middleware and selectors.
'use strict';

const LIMIT = 100;

class StoreError extends Error {
  constructor(message, action) {
    super(message);
    this.name = 'StoreError';
    this.action = action;
  }
}

function freeze(value) {
  if (value === null || typeof value !== 'object' || Object.isFrozen(value)) {
    return value;
  }
  for (const key of Object.keys(value)) {
    freeze(value[key]);
  }
  return Object.freeze(value);
}

class Store {
  #past = [];
  #future = [];
  #listeners = new Set();
  static count = 0;

  constructor(reducer, state = {}, { limit = LIMIT, middleware = [] } = {}) {
    if (typeof reducer !== 'function') {
      throw new TypeError(`a reducer is a function, not ${typeof reducer}`);
    }
    this.reducer = reducer;
    this.state = freeze({ ...state });
    this.limit = limit;
    this.run = middleware.reduceRight(
      (next, layer) => layer(this)(next),
      (action) => this.#apply(action),
    );
    Store.count += 1;
  }

  get canUndo() {
    return this.#past.length > 0;
  }

  #apply(action) {
    const next = this.reducer(this.state, action);
    if (next === undefined) {
      throw new StoreError('the reducer returned nothing', action);
    }
    if (next !== this.state) {
      this.#past.push(this.state);
      if (this.#past.length > this.limit) this.#past.shift();
      this.#future.length = 0;
      this.#set(next);
    }
    return action;
  }

  #set(state) {
    const old = this.state;
    this.state = freeze(state);
    for (const listener of [...this.#listeners]) {
      try {
        listener(this.state, old);
      } catch (error) {
        console.error('a listener failed:', error?.message ?? error);
      }
    }
  }

  dispatch(action) {
    switch (action.type) {
      case '@@undo':
        return this.undo();
      case '@@redo':
        return this.redo();
      default:
        return this.run(action);
    }
  }

  undo() {
    if (!this.canUndo) return false;
    this.#future.push(this.state);
    this.#set(this.#past.pop());
    return true;
  }

  redo() {
    if (this.#future.length === 0) {
      return false;
    }
    this.#past.push(this.state);
    this.#set(this.#future.pop());
    return true;
  }

  subscribe(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async until(predicate, timeout = 1000) {
    if (predicate(this.state)) return this.state;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        stop();
        reject(new StoreError(`not within ${timeout} ms`));
      }, timeout);
      const stop = this.subscribe((state) => {
        if (predicate(state)) {
          clearTimeout(timer);
          stop();
          resolve(state);
        }
      });
    });
  }
}

function select(store, path) {
  return path.split('.').reduce((at, key) => (at == null ? at : at[key]), store.state);
}

function* entries(object, prefix = '') {
  for (const [key, value] of Object.entries(object)) {
    const name = prefix ? `${prefix}.${key}` : key;
    if (value && typeof value === 'object') {
      yield* entries(value, name);
    } else {
      yield [name, value];
    }
  }
}

const logger = (store) => (next) => (action) => {
  const begun = Date.now();
  const result = next(action);
  console.log(action.type, `${Date.now() - begun} ms`, store.state);
  return result;
};

module.exports = { Store, StoreError, select, entries, logger };
