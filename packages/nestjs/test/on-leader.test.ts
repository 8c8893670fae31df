import type { Leader, Term } from '@leasehold/recipes'
import { expect, it } from 'vitest'
import { InjectLeases, type Leases, LeaseToken, OnFollower, OnLeader } from '../src/index.js'
import { Fleet, MINUTE } from './support/application.js'

function poller() {
  const events: string[] = []
  class Poller {
    @InjectLeases()
    readonly leases!: Leases

    get #owner() {
      return this.leases.election('poll').owner
    }
    @OnLeader('poll', { resignPause: 1_000 })
    lead({ term, signal }: Term, @LeaseToken() token?: bigint) {
      events.push(`${this.#owner} leads in term ${term} ${token === term}`)
      signal.addEventListener('abort', () => events.push(`${this.#owner} ends`))
    }
    @OnFollower('poll')
    follow({ owner }: Leader) {
      events.push(`${this.#owner} follows ${owner}`)
    }
  }
  return { Poller, events }
}

it('@OnLeader runs on one instance, also after it has returned, and the next one leads when that one ends', async () => {
  const fleet = new Fleet()
  const { Poller, events } = poller()
  const anna = await fleet.start([Poller], { owner: 'anna' })
  await fleet.clock.advance(1_000)
  const berta = await fleet.start([Poller], { owner: 'berta' })
  await fleet.clock.advance(10 * MINUTE)
  expect(events).toEqual(['anna leads in term 1 true', 'berta follows anna'])
  expect(anna.leases.election('poll').isLeader).toBe(true)
  const closing = anna.close()
  await fleet.clock.advance(MINUTE)
  await closing
  expect(events.slice(2)).toEqual(['anna ends', 'berta leads in term 2 true'])
  expect(berta.leases.election('poll').isLeader).toBe(true)
})

it('an application with @OnFollower only is no candidate', async () => {
  const fleet = new Fleet()
  const seen: string[] = []
  class Watcher {
    @OnFollower('poll')
    follow({ owner }: Leader) {
      seen.push(owner)
      throw new Error('costs only this call')
    }
  }
  const { leases } = await fleet.start([Watcher], { owner: 'watcher' })
  await fleet.clock.advance(MINUTE)
  expect(seen).toEqual([])
  const { Poller } = poller()
  await fleet.start([Poller], { owner: 'anna' })
  await fleet.clock.advance(MINUTE)
  expect(seen).toEqual(['anna'])
  expect(leases.election('poll').isLeader).toBe(false)
})

it('if the method throws, the term ends, and another instance can lead', async () => {
  const fleet = new Fleet()
  class Broken {
    @OnLeader('poll')
    lead() {
      throw new Error('no network')
    }
  }
  await fleet.start([Broken], { owner: 'broken' })
  const { Poller, events } = poller()
  await fleet.start([Poller], { owner: 'anna' })
  await fleet.clock.advance(MINUTE)
  expect(events.at(-1)).toMatch(/^anna leads/)
})

it('several methods share one election', async () => {
  const fleet = new Fleet()
  const calls: string[] = []
  class One {
    @OnLeader('poll')
    lead() {
      calls.push('one')
    }
  }
  class Two {
    @OnLeader('poll')
    lead() {
      calls.push('two')
    }
  }
  const { leases } = await fleet.start([One, Two])
  await fleet.clock.advance(1_000)
  expect(calls).toEqual(['one', 'two'])
  expect(() => leases.election('poll', { rank: 1 })).toThrow("the election 'poll' exists already")
})

it('at the start, a wrong election is an error that names the class and the method', async () => {
  class Nameless {
    @OnLeader('')
    lead() {}
  }
  class Wrong {
    @OnLeader('poll', { rank: Number.NaN })
    lead() {}
  }
  const fleet = new Fleet()
  expect(String(await fleet.faultOf([Nameless]))).toContain('Nameless.lead: @OnLeader: give the name of the election')
  expect(String(await fleet.faultOf([Wrong]))).toContain('Wrong.lead: @OnLeader: ')
})
