import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { PageState } from '../../client/state/page-state.js'
import type { Hello } from '../../src/protocol.js'

const hello: Hello = {
  version: '1.0.0',
  title: 'redis',
  store: 'redis',
  prefix: '',
  access: 'read',
  canBreak: false,
  interval: 1_000,
  historyFor: 1,
  observedSince: 0,
}

function stateOf() {
  const clock = new VirtualClock()
  let reloads = 0
  const state = new PageState({
    clock: { now: () => clock.now(), wall: () => clock.wall(), schedule: (delay, task) => clock.schedule(delay, task) },
    reload: () => {
      reloads += 1
    },
  })
  return { clock, state, reloads: () => reloads }
}

describe('PageState', () => {
  it('loads the page again when the server has another version, and only then', () => {
    const { state, reloads } = stateOf()
    state.onEvent('hello', hello)
    state.onEvent('hello', hello)
    expect(reloads()).toBe(0)
    state.onEvent('hello', { ...hello, version: '1.1.0' })
    expect(reloads()).toBe(1)
  })

  it('has the time of the server, where it differs by more than the answer may take', () => {
    const { clock, state } = stateOf()
    state.onOpen(clock.wall() + 60_000)
    expect(state.serverNow).toBe(clock.wall() + 60_000)
    state.onOpen(clock.wall() + 1_500)
    expect(state.serverNow).toBe(clock.wall())
    state.onOpen(undefined)
    expect(state.serverNow).toBe(clock.wall())
  })

  it('knows nothing after the instant at which the list became stale', async () => {
    const { clock, state } = stateOf()
    state.onOpen(undefined)
    state.onEvent('hello', hello)
    state.onEvent('list', { isFirst: true, isLast: true, rows: [] })
    state.onEvent('freshness', { age: 0 })
    const known = clock.wall()
    await clock.advance(10_000)
    expect(state.status.kind).toBe('stale')
    expect(state.knownUntil).toBe(known)
  })

  it('tells which parts have changed, and skips events that it does not know', () => {
    const { state } = stateOf()
    const told: string[] = []
    for (const topic of ['leases', 'recipes', 'findings'] as const) state.topics.on(topic, () => told.push(topic))
    state.onEvent('later' as 'list', {} as never)
    state.onEvent('changes', { rows: [] })
    state.onEvent('recipes', { elections: [] })
    state.onEvent('findings', [])
    expect(told).toEqual(['leases', 'recipes', 'findings'])
  })

  it('keeps the kinds of recipes that an event does not have', () => {
    const { state } = stateOf()
    state.onEvent('recipes', { elections: [{ name: 'a', candidates: [] }] })
    state.onEvent('recipes', { groups: [] })
    expect(state.recipes.elections.length).toBe(1)
  })
})
