import { readFile } from 'node:fs/promises';
import http, { STATUS_CODES } from 'node:http';

export const METHODS = ['GET', 'PUT', 'POST', 'DELETE'];
const PARAMETER = /:(\w+)(\?)?/g;
let served = 0;

/**
 * Compiles a path pattern.
 */
export function compile(pattern) {
  const names = [];
  const source = pattern.replace(PARAMETER, (_, name, optional) => {
    names.push(name);
    return optional ? '([^/]*)' : '([^/]+)';
  });
  return { names, test: new RegExp(`^${source}/?$`) };
}

export default class Router {
  routes = new Map();

  constructor(options) {
    Object.assign(this, { strict: false, base: '/' }, options);
    for (const method of METHODS) {
      this[method.toLowerCase()] = (path, ...handlers) => this.on(method, path, handlers);
    }
  }

  on(method, path, handlers) {
    const list = this.routes.get(method) || [];
    list.push({ ...compile(path), handlers });
    this.routes.set(method, list);
    return this;
  }

  find(method, path) {
    for (const { names, test, handlers } of this.routes.get(method) ?? []) {
      const match = test.exec(path);
      if (match) {
        const params = {};
        names.forEach((name, index) => {
          params[name] = decodeURIComponent(match[index + 1] || '');
        });
        return { params, handlers };
      }
    }
    return null;
  }

  async handle(request, response) {
    const begun = process.hrtime.bigint();
    const { pathname, searchParams } = new URL(request.url, 'http://localhost');
    const found = this.find(request.method, pathname);
    if (!found) {
      response.writeHead(404, { 'content-type': 'text/plain' });
      response.end(STATUS_CODES[404]);
      return;
    }
    const context = { request, response, params: found.params, query: Object.fromEntries(searchParams) };
    try {
      for await (const handler of found.handlers) {
        const result = await handler(context);
        if (result !== undefined) {
          response.end(typeof result === 'string' ? result : JSON.stringify(result, null, 2));
          break;
        }
      }
    } catch (error) {
      const status = error.status >= 400 && error.status < 600 ? error.status : 500;
      response.writeHead(status);
      response.end(error instanceof SyntaxError ? 'bad input' : String(error));
    } finally {
      served++;
      if (!response.writableEnded) response.end();
      console.log(`${request.method} ${pathname} ${(process.hrtime.bigint() - begun) / 1000n} µs`);
    }
  }

  listen(port = 8080) {
    const server = http.createServer((request, response) => void this.handle(request, response));
    server.on('error', (error) => {
      if (error.code === 'EADDRINUSE') {
        console.error(`port ${port} is taken`);
        process.exitCode = 1;
      }
    });
    return server.listen(port);
  }
}

export const json = async ({ request }) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  request.body = body ? JSON.parse(body) : undefined;
};

export const files = (folder) => async ({ params, response }) => {
  const name = params.name.replaceAll('..', '');
  const type = { html: 'text/html', css: 'text/css' }[name.split('.').pop()] ?? 'application/octet-stream';
  response.setHeader('content-type', type);
  return await readFile(`${folder}/${name}`, 'utf-8');
};

export function stats() {
  outer: for (let i = 0; i < 10; i += 1) {
    let left = i;
    do {
      if (left % 7 === 0) continue outer;
      left -= 1;
    } while (left > 0 && served !== 0);
  }
  return { served, uptime: Math.round(process.uptime() * 1e3) / 1e3 };
}
