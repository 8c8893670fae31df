import { AbortableCall } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { TurnWatches } from '../../src/life-cycle/turn-watches.js'
import type { TurnState } from '../../src/life-cycle/watched-name.js'

const call = new AbortableCall()

class Scene {
  readonly clock = new VirtualClock()
  readonly watched: string[] = []
  looks = 0
  state: TurnState = { lockedFor: Number.POSITIVE_INFINITY, fencingToken: 1n }
  readonly watches: TurnWatches

  constructor(longestSleep?: number) {
    this.watches = new TurnWatches({
      clock: this.clock,
      look: () => {
        this.looks += 1
        return this.state
      },
      read: () => undefined,
      ...(longestSleep === undefined ? {} : { longestSleep }),
      onWatched: (name, isWatched) => this.watched.push(`${isWatched ? '+' : '-'}${name}`),
    })
  }

  /** Counts the notifications of a new watch. */
  count(name = 'invoices', grantId?: string): { notified: number } {
    const counter = { notified: 0 }
    const watch = this.watches.watch(name, call, grantId, () => {})
    const listen = async (): Promise<void> => {
      for await (const _ of watch) counter.notified += 1
    }
    void listen()
    return counter
  }
}

describe('TurnWatches', () => {
  it('forgets a name with its last watch', async () => {
    const { watches, watched } = new Scene()
    const both = ['a', undefined].map((grantId) =>
      watches.watch('invoices', call, grantId, () => {})[Symbol.asyncIterator](),
    )
    for (const watch of both) {
      expect(watches.size).toBe(1)
      await watch.return?.()
    }
    expect(watches.size).toBe(0)
    expect(watched).toEqual(['+invoices', '-invoices'])
  })

  it('notifies only the watches of the name', async () => {
    const scene = new Scene()
    const [invoices, orders] = [scene.count('invoices'), scene.count('orders')]
    scene.state = { lockedFor: 0, fencingToken: 1n }
    scene.watches.update('invoices')
    await scene.clock.settle()
    expect([invoices.notified, orders.notified]).toEqual([1, 0])
    scene.watches.close()
  })

  it('notices that the name was locked between two looks, by its token', async () => {
    const scene = new Scene()
    scene.state = { lockedFor: 0, fencingToken: 1n }
    const counter = scene.count()
    for (const fencingToken of [1n, 2n, 2n, 3n]) {
      scene.state = { lockedFor: 0, fencingToken }
      scene.watches.update('invoices')
      await scene.clock.settle()
    }
    expect(counter.notified).toBe(3)
    scene.watches.close()
  })

  it('looks by itself after the longest sleep', async () => {
    const scene = new Scene(1_000)
    const counter = scene.count('invoices', 'a')
    const before = scene.looks
    await scene.clock.advance(2_000)
    expect(scene.looks - before).toBe(2)
    scene.state = { lockedFor: 0, fencingToken: 1n, first: { grantId: 'a', keptFor: 60_000 } }
    await scene.clock.advance(1_000)
    expect(counter.notified).toBe(1)
    scene.watches.close()
    expect(scene.clock.pending).toBe(0)
  })
})
