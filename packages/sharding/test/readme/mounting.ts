import type { HttpTransport } from '@leasehold/sharding'
import type { FastifyInstance } from 'fastify'
import type { Hono } from 'hono'

/** As much of an app of Express as is used here. */
interface ExpressApp {
  use(handler: HttpTransport['handler']): unknown
}

export function mountInExpress(app: ExpressApp, transport: HttpTransport): void {
  // #region express
  app.use(transport.handler)
  // #endregion express
}

export function mountInFastify(app: FastifyInstance, transport: HttpTransport): void {
  // #region fastify
  app.addHook('onRequest', (request, reply, done) => transport.handler(request.raw, reply.raw, done))
  // #endregion fastify
}

export function mountInHono(app: Hono, transport: HttpTransport): void {
  // #region hono
  app.all('/leasehold-sharding/*', (context) => transport.fetch(context.req.raw))
  // #endregion hono
}
