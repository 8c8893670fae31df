import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { wallTime } from '@leasehold/core/store-kit'
import type { LocalLeaseStore } from '@leasehold/local'
import { temporaryFolder } from '@leasehold/testing'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, vi } from 'vitest'
import { call, claim, granted, openStore } from './support/open-store.js'

const watched = vi.hoisted(() => ({
  /** Called before a file gets a second name. */
  beforeLink: (): void => {},
  paths: new Map<number, string>(),
  /** The writes and flushes of files, in their order. */
  steps: [] as string[],
}))

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>()
  const { paths, steps } = watched
  return {
    ...fs,
    linkSync: (from: string, to: string) => {
      watched.beforeLink()
      fs.linkSync(from, to)
    },
    openSync: (path: string, ...rest: [string, number]) => {
      const file = fs.openSync(path, ...rest)
      paths.set(file, path)
      return file
    },
    fsyncSync: (file: number) => {
      fs.fsyncSync(file)
      steps.push(`flush ${paths.get(file)}`)
    },
    writeSync: (file: number, data: string) => {
      steps.push(`write ${paths.get(file)}`)
      return fs.writeSync(file, data)
    },
  }
})

/** In milliseconds of the wall clock; a token counts grants within one of them. */
function instantOf(token: bigint): number {
  return Number(token >> 20n)
}

/**
 * Opens the folder in several stores at the same time: each finds no log before the first has created one, and the last
 * to look is the one that creates it.
 */
function openTogether(folder: string, count: number): LocalLeaseStore[] {
  const stores: LocalLeaseStore[] = []
  let opened = 0
  const openOne = (): void => {
    opened += 1
    stores.push(openStore({ folder, clock: new VirtualClock() }))
  }
  watched.beforeLink = () => {
    if (opened < count) openOne()
  }
  openOne()
  watched.beforeLink = () => {}
  return stores
}

describe('several processes that open a folder without a log at the same time', () => {
  it('begin one epoch, which is not ahead of the wall clock', async () => {
    const folder = temporaryFolder()
    const stores = openTogether(folder, 8)
    expect(stores).toHaveLength(8)
    for (const [place, store] of stores.entries()) {
      const { fencingToken } = await granted(claim(store, `grant ${place}`, { name: `name ${place}` }))
      expect(instantOf(fencingToken)).toBeLessThanOrEqual(wallTime())
    }
    expect(readFileSync(join(folder, 'epoch'), 'utf8').trim().split(/\n+/)).toHaveLength(1)
  })

  it('have smaller tokens than the next log, although all files are deleted', async () => {
    const folder = temporaryFolder()
    let last = 0n
    for (const processes of [4, 1, 2, 1]) {
      for (const [place, store] of openTogether(folder, processes).entries()) {
        const grant = await granted(claim(store, `grant ${place}`))
        expect(grant.fencingToken).toBeGreaterThan(last)
        last = grant.fencingToken
        await store.release(grant, call)
      }
      rmSync(folder, { recursive: true })
      // Without any file, tokens continue from the wall clock: by milliseconds.
      await pause(2)
    }
  })
})

describe('an epoch', () => {
  it.each(['that began it', 'after the one that began it'])(
    'is on the disk, with its name, before the first grant of the process %s',
    async (process) => {
      const folder = temporaryFolder()
      const options = { folder, clock: new VirtualClock(), bootId: 'x' }
      if (process !== 'that began it') await claim(openStore(options), 'before')
      const store = openStore(options)
      watched.steps.length = 0
      await granted(claim(store, 'A', { name: 'another' }))
      const grant = watched.steps.indexOf(`write ${join(folder, 'leases-x.mdb')}`)
      expect(grant).toBeGreaterThan(0)
      const before = watched.steps.slice(0, grant)
      expect(before).toContain(`flush ${join(folder, 'epoch')}`)
      expect(before.at(-1)).toBe(`flush ${folder}`)
    },
  )
})
