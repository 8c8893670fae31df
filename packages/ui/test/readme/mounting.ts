import type { LeaseStore } from '@leasehold/core'
import { LeaseUi } from '@leasehold/ui'
import type { INestApplication } from '@nestjs/common'
import type { FastifyInstance } from 'fastify'
import type { Hono } from 'hono'

/** As much of an app of Express as is used here. */
interface ExpressApp {
  use(handler: LeaseUi['handle']): unknown
}

export function pageAt(store: LeaseStore, token: string): LeaseUi {
  // #region path
  const ui = new LeaseUi(store, { path: '/leases', token })
  // #endregion path
  return ui
}

export function mountInExpress(app: ExpressApp, ui: LeaseUi): void {
  // #region express
  app.use(ui.handle)
  // #endregion express
}

export function mountInFastify(app: FastifyInstance, ui: LeaseUi): void {
  // #region fastify
  app.addHook('onRequest', (request, reply, done) => ui.handle(request.raw, reply.raw, done))
  app.addHook('preClose', () => ui.close())
  // #endregion fastify
}

export function mountInHono(app: Hono, ui: LeaseUi): void {
  // #region hono
  app.all('/leases/*', (context) => ui.fetch(context.req.raw))
  // #endregion hono
}

export function mountInNest(app: INestApplication, ui: LeaseUi): void {
  // #region nest
  app.use(ui.handle)
  // #endregion nest
}
