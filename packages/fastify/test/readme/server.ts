// #region example
import type { LeaseStore } from '@leasehold/core'
import { fastifyLeases } from '@leasehold/fastify'
import Fastify, { type FastifyInstance } from 'fastify'

/** Your work. */
interface Work {
  writeReport(signal: AbortSignal): Promise<void>
  closeAccount(id: string, fencingToken: bigint): Promise<object>
}

/** Every instance calls this, with the same store. */
export async function buildServer(store: LeaseStore, { writeReport, closeAccount }: Work): Promise<FastifyInstance> {
  const fastify = Fastify({ logger: { level: 'warn' } })
  await fastify.register(fastifyLeases, { store, health: '/healthz' })

  // At each tick, on one of the instances.
  fastify.leases.schedule('report', '0 3 * * *', async ({ signal }) => await writeReport(signal))

  // One request at a time for each account, over all instances.
  fastify.post<{ Params: { id: string } }>('/accounts/:id/close', async (request) => {
    const { id } = request.params
    const work = ({ fencingToken }: { fencingToken: bigint }) => closeAccount(id, fencingToken)
    return await fastify.leases.run(`account/${id}`, work, { wait: 5_000, log: request.log })
  })

  // One of the instances leads.
  const election = fastify.leases.election('writer')
  fastify.get('/leader', async () => ({ isHere: election.isLeader, owner: (await election.leader())?.owner }))
  return fastify
}
// #endregion example
