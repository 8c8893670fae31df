import { copyFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '@leasehold/testing'
import { VirtualClock } from '@leasehold/testkit'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { call, claim, granted, openStore } from './support/open-store.js'

afterEach(() => {
  vi.useRealTimers()
})

/** Copies the files of a folder; returns a function that restores the copies. */
function copyOf(folder: string): () => void {
  const copies = temporaryFolder()
  const files = readdirSync(folder)
  for (const file of files) copyFileSync(join(folder, file), join(copies, file))
  return () => {
    for (const file of files) copyFileSync(join(copies, file), join(folder, file))
  }
}

/** The token of one grant, by a store of its own that is closed again, on a wall clock that shows `wall`. */
async function tokenIn(folder: string, wall: number, bootId = 'this start'): Promise<bigint> {
  vi.useFakeTimers({ toFake: ['Date'], now: wall })
  const store = openStore({ folder, clock: new VirtualClock(), bootId })
  const grant = await granted(claim(store, `grant at ${wall}`))
  await store.release(grant, call)
  await store.close()
  return grant.fencingToken
}

const NOON = 1_800_000_000_000

describe('fencing tokens, where an older copy of the folder returns', () => {
  it.each([5, 5_000, 500_000])('grow, copied back after %d ms', async (later) => {
    const folder = temporaryFolder()
    const first = await tokenIn(folder, NOON)
    const putBack = copyOf(folder)
    const second = await tokenIn(folder, NOON + 1)
    const third = await tokenIn(folder, NOON + 1)
    putBack()
    const next = await tokenIn(folder, NOON + later)
    expect(second).toBeGreaterThan(first)
    expect(third).toBeGreaterThan(second)
    expect(next).toBeGreaterThan(third)
  })

  it('grow over a start of the machine that lost the last grants, and a wall clock that was set back', async () => {
    const folder = temporaryFolder()
    const tokens: bigint[] = []
    // Grants of hours, so that one epoch is not enough.
    for (const minutes of [0, 30, 90, 200, 230]) tokens.push(await tokenIn(folder, NOON + minutes * 60_000, 'before'))
    tokens.push(await tokenIn(folder, NOON - 86_400_000, 'after'))
    tokens.push(await tokenIn(folder, NOON - 86_300_000, 'after'))
    for (const [place, token] of tokens.entries()) if (place > 0) expect(token).toBeGreaterThan(tokens[place - 1] ?? 0n)
  })

  it('are not below the wall clock, in milliseconds, times a million', async () => {
    expect(await tokenIn(temporaryFolder(), NOON)).toBe(BigInt(NOON) << 20n)
    const folder = temporaryFolder()
    await tokenIn(folder, NOON)
    expect(await tokenIn(folder, NOON + 7)).toBe(BigInt(NOON + 7) << 20n)
  })
})
