import { type LeaseRecord, listLeases, MemoryLeaseStore } from '@leasehold/core'
import { silentLogger } from '@leasehold/testing'
import { VirtualClock, VirtualTime } from '@leasehold/testkit'
import { expect, onTestFinished } from 'vitest'
import { RecipeObserver, type SeenRecipes } from '../../src/recipes/recipe-observer.js'

export const MINUTE = 60_000
/** Where the wall clock begins. */
export const START = Date.UTC(2026, 0, 1)

/** A store in virtual time, with an observer of the recipes that use it. */
export class Town {
  readonly time = new VirtualTime()
  readonly clock = new VirtualClock({ time: this.time })
  readonly store = new MemoryLeaseStore({ clock: this.clock })
  readonly observer = new RecipeObserver(this.store)
  /** For recipes. */
  readonly options = {
    clock: this.clock,
    random: () => 0.5,
    logger: silentLogger,
    heartbeatTimeout: 10_000,
    heartbeatInterval: 1_000,
    operationTimeout: 3_000,
  }

  get wall(): number {
    return this.clock.wall()
  }

  async pass(duration: number): Promise<void> {
    await this.time.advance(duration)
  }

  /** Waits for something that takes virtual time. */
  async settled<T>(promise: Promise<T>): Promise<T> {
    let isOver = false
    const over = (): void => {
      isOver = true
    }
    promise.then(over, over)
    expect(await this.time.advanceUntil(() => isOver, 10 * MINUTE)).toBe(true)
    return await promise
  }

  async records(): Promise<LeaseRecord[]> {
    const records: LeaseRecord[] = []
    for await (const record of listLeases(this.store, '', { clock: this.clock })) records.push(record)
    return records
  }

  /** Lists the store. */
  async look(): Promise<SeenRecipes> {
    return this.observer.onListing(await this.records(), this.wall)
  }

  /** Starts a recipe, and stops it after the test. */
  started<R extends { start(): unknown; stop(): Promise<unknown> }>(recipe: R): R {
    recipe.start()
    onTestFinished(async () => {
      await this.settled(recipe.stop())
    })
    return recipe
  }
}

/** A record that any program can have written. */
export function recordOf(name: string, metadata: unknown, more: Partial<LeaseRecord> = {}): LeaseRecord {
  return {
    name,
    owner: 'somebody',
    grantId: '6a204bd8-9f5d-4b9a-9ad4-2c1c2a4b1d11',
    fencingToken: 7n,
    ttl: 10_000,
    state: 'leased',
    remaining: 9_000,
    metadata: metadata as LeaseRecord['metadata'],
    ...more,
  }
}
