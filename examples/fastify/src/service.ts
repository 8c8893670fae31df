// #region service
import { LeaseLostError, type LeaseStore } from '@leasehold/core'
import { fastifyLeases } from '@leasehold/fastify'
import type { LocalGuard } from '@leasehold/local'
import Fastify, { type FastifyInstance } from 'fastify'

/** The parts that all instances of the service share. */
export interface Shared {
  readonly store: LeaseStore
  readonly guard: LocalGuard
  /** Appends an entry to the data of the service. */
  append(entry: string): void
}

/** One instance of the service, which the others reach at `address`. */
export async function buildService(name: string, address: string, shared: Shared): Promise<FastifyInstance> {
  const fastify = Fastify({ logger: { level: 'warn' } })
  await fastify.register(fastifyLeases, {
    store: shared.store,
    owner: name,
    heartbeatTimeout: 3_000,
    heartbeatInterval: 500,
    operationTimeout: 500,
    health: '/healthz',
  })
  await fastify.register(entryRoutes, { name, address, ...shared })
  return fastify
}
// #endregion service

interface EntryOptions extends Shared {
  readonly name: string
  readonly address: string
}

/** How often a write is forwarded at most: two instances that each believe in the other must not forward it for ever. */
const MOST_HOPS = 3

/** `GET /leader` answers who leads. `POST /entries` writes: the leader does it, any other instance forwards the request. */
async function entryRoutes(fastify: FastifyInstance, { name, address, guard, append }: EntryOptions): Promise<void> {
  // #region election
  const election = fastify.leases.election('entries', { metadata: { address }, advertise: true, transfer: 'best' })
  // #endregion election

  // A follower is ready, too: it forwards writes.
  fastify.get('/readyz', async () => ({ ready: true }))

  fastify.get('/leader', async () => ({ owner: (await election.leader())?.owner }))

  // #region forward
  fastify.post<{ Querystring: { text: string; hops?: number } }>('/entries', async (request, reply) => {
    const { text, hops = 0 } = request.query
    const { term } = election
    if (term !== undefined) {
      try {
        // The guard rejects the write if a later leader has written meanwhile.
        guard.transact('entries', term, () => append(`${text} by ${name}`))
        return { writer: name }
      } catch (error) {
        if (!(error instanceof LeaseLostError)) throw error
        request.log.warn({ err: error }, 'another instance leads already')
      }
    }
    const leader = await election.leader()
    const target = leader?.owner === name ? undefined : leader?.metadata.address
    if (target === undefined || Number(hops) >= MOST_HOPS) {
      return reply.code(503).header('retry-after', '1').send({ error: 'there is no leader now' })
    }
    const query = new URLSearchParams({ text, hops: String(Number(hops) + 1) })
    const forwarded = await fetch(`${target}/entries?${query}`, { method: 'POST', signal: AbortSignal.timeout(5_000) })
    return reply.code(forwarded.status).send(await forwarded.json())
  })
  // #endregion forward
}
