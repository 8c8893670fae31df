import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { ConsulLeaseStore } from '@leasehold/consul'
import { AbortableCall } from '@leasehold/core/store'
import { expect, it, type TestContext } from 'vitest'

const never = new AbortableCall()

interface Agent {
  readonly url: string
  isSessionAlive: boolean
}

interface Operation {
  readonly KV: { readonly Verb: string; readonly Key: string; readonly Session?: string; readonly Value?: string }
}

/**
 * An agent that applies each transaction. Its session may end just after one: on a real agent, that takes an instant which no
 * test can meet.
 */
async function startAgent(test: TestContext): Promise<Agent> {
  let index = 10
  let agent: Agent | undefined
  const answerTo = (path: string, body: string): [number, unknown] => {
    if (path.startsWith('/v1/session/create')) return [200, { ID: 'session' }]
    if (path.startsWith('/v1/session/renew'))
      return agent?.isSessionAlive ? [200, [{}]] : [404, "Session id 'session' not found"]
    if (!path.startsWith('/v1/txn')) return [404, '']
    index += 1
    const operations = JSON.parse(body) as readonly Operation[]
    return [200, { Results: operations.map(({ KV }) => ({ KV: { ...KV, ModifyIndex: index } })), Errors: null }]
  }
  const server = createServer(async (request, response) => {
    const [status, answer] = answerTo(request.url ?? '', await text(request))
    response.statusCode = status
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  test.onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  agent = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, isSessionAlive: true }
  return agent
}

it('an update does not confirm a lease whose session has ended, though it was written', async (test) => {
  const agent = await startAgent(test)
  const store = new ConsulLeaseStore({ addresses: [agent.url] })
  test.onTestFinished(() => store.close())
  const outcome = await store.acquire({ name: 'job', owner: 'anna', grantId: randomUUID(), ttl: 20_000 }, never)
  if (!outcome.granted) throw new Error('refused')
  expect(await store.update(outcome.grant, { part: '1' }, never)).toEqual({ renewed: true })
  agent.isSessionAlive = false
  expect(await store.update(outcome.grant, { part: '2' }, never)).toEqual({ renewed: false, reason: 'expired' })
})
