import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LocalLeaseStore } from '@leasehold/local'
import Fastify, { type FastifyInstance } from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { fastifyLeases } from '../src/index.js'

it('two servers with one folder, in real time: one leads, and the other one leads when the first has closed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-fastify-test-'))
  const servers: FastifyInstance[] = []
  onTestFinished(async () => {
    await Promise.all(servers.map((server) => server.close()))
    rmSync(folder, { recursive: true, force: true })
  })
  const start = async (owner: string) => {
    const fastify = Fastify()
    servers.push(fastify)
    await fastify.register(fastifyLeases, { store: new LocalLeaseStore({ folder }), owner })
    const election = fastify.leases.election('writer')
    await fastify.listen({ port: 0, host: '127.0.0.1' })
    return { fastify, election }
  }
  const anna = await start('anna')
  await expect.poll(() => anna.election.isLeader, { timeout: 30_000 }).toBe(true)
  const berta = await start('berta')
  await expect.poll(async () => (await berta.election.leader())?.owner, { timeout: 30_000 }).toBe('anna')
  expect(berta.election.isLeader).toBe(false)
  await anna.fastify.close()
  await expect.poll(() => berta.election.isLeader, { timeout: 30_000 }).toBe(true)
})
