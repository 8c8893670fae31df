// #region two-stores
import type { LeaseStore } from '@leasehold/core'
import { fastifyLeases, type Leases } from '@leasehold/fastify'
import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyInstance {
    jobLeases: Leases
  }
}

export async function addTwoStores(fastify: FastifyInstance, store: LeaseStore, jobStore: LeaseStore): Promise<void> {
  await fastify.register(fastifyLeases, { store })
  await fastify.register(fastifyLeases, { store: jobStore, name: 'jobLeases' })
  fastify.jobLeases.schedule('cleanup', '@hourly', async () => {})
}
// #endregion two-stores
