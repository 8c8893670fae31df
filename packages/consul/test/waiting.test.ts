import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ConsulLeaseStore } from '@leasehold/consul'
import { type Clock, systemClock } from '@leasehold/core'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { eventually } from '@leasehold/testing'
import { describeConsul } from '@leasehold/testing/describe-consul'
import { never } from '@leasehold/testing/job-claims'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { LOCK_FLAGS } from '../src/kv-entry.js'
import { FOREVER, Scene, TIMES } from './support/scene.js'

const WAITERS = 20

describeConsul('waiters', () => {
  describe.concurrent('for a held name', { timeout: 90_000 }, () => {
    it('are woken by the release, well before they would ask again', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const [holder, waiter] = [
          scene.player('holder', scene.store([server])),
          scene.player('waiter', scene.store([server])),
        ]
        await holder.lease.acquire()
        let refusals = 0
        const waiting = waiter.lease.acquire(FOREVER)
        await eventually('it waits', async () => {
          refusals += 1
          return waiter.lease.state === 'acquiring' && refusals > 5
        })
        const begun = systemClock.now()
        await holder.lease.release()
        expect(await waiting).toBe(true)
        expect(systemClock.now() - begun).toBeLessThan(TIMES.heartbeatTimeout / 6)
      })
    })

    it('in one process share a blocking query, and one after the other is granted the lease', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        let wakes = 0
        const schedule: Clock['schedule'] = (delay, task) =>
          systemClock.schedule(delay, () => {
            if (delay === 200) wakes += 1
            task()
          })
        const store = scene.store([server], { clock: { now: () => systemClock.now(), schedule } })
        let waiting = 0
        const watch = store.watch.bind(store)
        Object.assign(store, {
          watch: (name: string, call: StoreCall) => {
            waiting += 1
            return watch(name, call)
          },
        })
        const holder = scene.player('holder', scene.store([server]))
        await holder.lease.acquire()
        const served: string[] = []
        const turns = Array.from({ length: WAITERS }, async (_, place) => {
          const player = scene.player(`waiter-${place}`, store)
          await player.lease.acquire(FOREVER)
          served.push(...player.overlaps, 'turn')
          await player.lease.release()
        })
        await eventually('they wait', async () => waiting === WAITERS)
        const before = await server.raftIndex()
        await holder.lease.release()
        await Promise.all(turns)
        expect(served).toEqual(Array.from({ length: WAITERS }, () => 'turn'))
        // A turn is a lock and an unlock. One more waiter is woken after each 200 ms in which the name stays free, as on a
        // slow machine. If each release woke all waiters, there would be three times as many.
        const writes = (await server.raftIndex()) - before
        expect(writes).toBeLessThan(WAITERS * 3 + wakes)
      })
    })

    it('are granted the name of a holder that was killed when the lock-delay ends, without a poll', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const way = await scene.proxy(server)
        const holder = scene.player('holder', scene.store([way]))
        await holder.lease.acquire()
        way.blackHole()
        const cut = systemClock.now()
        const waiter = scene.player('waiter', scene.store([server]))
        expect(await waiter.lease.acquire(FOREVER)).toBe(true)
        expect(waiter.overlaps).toEqual([])
        const [least, most] = [2 * TIMES.heartbeatTimeout, 4 * TIMES.heartbeatTimeout]
        expect(systemClock.now() - cut).toBeGreaterThan(least)
        expect(systemClock.now() - cut).toBeLessThan(most)
      })
    })
  })
})

/** An answer to a blocking query; `undefined`: none ever comes. */
type Answer = { readonly index: number; readonly isHeld: boolean } | undefined

/** An agent that answers blocking queries from a script, and notes the index of each. */
async function scripted(answers: readonly Answer[], clock: Clock = systemClock) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://agent')
    asked.push(searchParams.get('index') ?? '')
    const answer = answers[asked.length - 1]
    if (answer === undefined) return
    const session = answer.isHeld ? { Session: '6cf2ff0c-3d6b-4d0c-8d0b-2f6a2f4d3a51' } : {}
    const entry = {
      Key: 'leasehold/job',
      Flags: Number(LOCK_FLAGS),
      ModifyIndex: answer.index,
      Value: null,
      ...session,
    }
    response.setHeader('X-Consul-Index', String(answer.index))
    response.end(JSON.stringify([entry]))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const address = `http://127.0.0.1:${port}`
  return {
    asked,
    address,
    store: new ConsulLeaseStore({ addresses: [address], clock }),
    close: () => server.closeAllConnections(),
  }
}

describe('a blocking query', () => {
  it('starts again when the index becomes smaller, as after a restore of the servers', async () => {
    const agent = await scripted([
      { index: 100, isHeld: true },
      { index: 5, isHeld: true },
      { index: 6, isHeld: false },
    ])
    const call = new AbortableCall()
    const turns = agent.store.watch('job', call)[Symbol.asyncIterator]()
    expect(await turns.next()).toEqual({ done: false, value: undefined })
    expect(agent.asked.slice(0, 3)).toEqual(['0', '100', '0'])
    call.abort()
    expect((await turns.next()).done).toBe(true)
    expect(call.listeners).toBe(0)
    await agent.store.close()
    agent.close()
  })

  it('whose time ends without a change is sent again, and wakes nobody', async () => {
    const agent = await scripted([
      { index: 7, isHeld: true },
      { index: 7, isHeld: true },
      { index: 7, isHeld: true },
      { index: 8, isHeld: false },
      undefined,
    ])
    const call = new AbortableCall()
    const turns = agent.store.watch('job', call)[Symbol.asyncIterator]()
    expect(await turns.next()).toEqual({ done: false, value: undefined })
    expect(agent.asked.slice(0, 4)).toEqual(['0', '7', '7', '7'])
    call.abort()
    await agent.store.close()
    agent.close()
  })

  it('that is not answered a minute long is given up and sent again: the waiter is notified', async () => {
    const clock = new VirtualClock()
    const agent = await scripted([{ index: 7, isHeld: true }, undefined, { index: 9, isHeld: false }], clock)
    const call = new AbortableCall()
    const turn = agent.store.watch('job', call)[Symbol.asyncIterator]().next()
    await eventually('the query hangs', async () => agent.asked.length === 2)
    await clock.advance(35_000)
    // An agent may hold a query for 30 s and a sixteenth more.
    expect(agent.asked.length).toBe(2)
    await clock.advance(25_000)
    await eventually('the query is sent again', async () => {
      await clock.advance(100)
      return agent.asked.length === 3
    })
    expect(await turn).toEqual({ done: false, value: undefined })
    expect(agent.asked[2]).toBe('0')
    call.abort()
    await agent.store.close()
    agent.close()
  })

  it('that an agent does not answer goes to the next one', async () => {
    const clock = new VirtualClock()
    const [silent, other] = [await scripted([undefined]), await scripted([{ index: 9, isHeld: false }])]
    const store = new ConsulLeaseStore({ addresses: [silent.address, other.address], clock })
    const call = new AbortableCall()
    const turn = store.watch('job', call)[Symbol.asyncIterator]().next()
    await eventually('the query hangs', async () => silent.asked.length === 1)
    await clock.advance(40_000)
    expect(await turn).toEqual({ done: false, value: undefined })
    expect([silent.asked.length, other.asked[0]]).toEqual([1, '0'])
    call.abort()
    await store.close()
    for (const agent of [silent, other]) agent.close()
  })

  it('ends with the store', async () => {
    const agent = await scripted([])
    const ended = (async () => {
      for await (const _ of agent.store.watch('job', never));
    })()
    await eventually('it has begun', async () => agent.asked.length === 1)
    await agent.store.close()
    await ended
    agent.close()
  })
})
