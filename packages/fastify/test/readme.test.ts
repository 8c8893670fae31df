import { createLease, MemoryLeaseStore } from '@leasehold/core'
import { fastifyLeases } from '@leasehold/fastify'
import Fastify from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { answerLeaseErrors } from './readme/errors.js'
import { buildServer } from './readme/server.js'
import { addTwoStores } from './readme/two-stores.js'

it('the example serves, leads and tells its health', async () => {
  const closed: bigint[] = []
  const fastify = await buildServer(new MemoryLeaseStore(), {
    writeReport: async () => {},
    closeAccount: async (_id, fencingToken) => {
      closed.push(fencingToken)
      return { closed: true }
    },
  })
  onTestFinished(async () => await fastify.close())
  await fastify.listen({ port: 0, host: '127.0.0.1' })
  const post = () => fastify.inject({ method: 'POST', url: '/accounts/7/close' })
  const answers = await Promise.all([post(), post()])
  expect(answers.map((answer) => answer.json())).toEqual([{ closed: true }, { closed: true }])
  const [first = 0n, second = 0n] = closed
  expect(second).toBeGreaterThan(first)
  expect((await fastify.inject('/healthz')).statusCode).toBe(200)
  await expect
    .poll(async () => (await fastify.inject('/leader')).json(), { timeout: 30_000 })
    .toEqual({ isHere: true, owner: expect.any(String) })
})

it('the example with two stores keeps them apart', async () => {
  const [store, jobStore] = [new MemoryLeaseStore(), new MemoryLeaseStore()]
  const fastify = Fastify()
  await addTwoStores(fastify, store, jobStore)
  expect([fastify.leases.store, fastify.jobLeases.store]).toEqual([store, jobStore])
  await fastify.close()
  expect([store.closed.aborted, jobStore.closed.aborted]).toEqual([true, true])
})

it('the example of errors answers 409 while the lease is held, 503 while the store fails, and leaves other errors alone', async () => {
  const store = new MemoryLeaseStore()
  const fastify = Fastify()
  await fastify.register(fastifyLeases, { store, closeStore: false })
  answerLeaseErrors(fastify)
  fastify.get('/run', async () => await fastify.leases.run('a', async () => ({})))
  fastify.get('/fail', async () => {
    throw new Error('mine')
  })
  const other = createLease(store, 'a')
  await other.acquire()
  expect((await fastify.inject('/run')).statusCode).toBe(409)
  await other.release()
  expect((await fastify.inject('/run')).statusCode).toBe(200)
  await store.close()
  expect((await fastify.inject('/run')).statusCode).toBe(503)
  expect((await fastify.inject('/fail')).json()).toMatchObject({ statusCode: 500, message: 'mine' })
  await fastify.close()
})
