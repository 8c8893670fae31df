import type { LeaseRecord } from '@leasehold/core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { listRecords } from '../../src/store/life-cycle/list-records.js'

function recordOf(name: string): LeaseRecord {
  return { name, owner: 'o', grantId: 'g', fencingToken: 1n, ttl: 1, state: 'available', metadata: {} }
}

/** Lists the names of a map; `meanwhile` runs after each record. */
async function namesOf(
  records: Map<string, LeaseRecord>,
  prefix = '',
  meanwhile: (listed: number) => void = () => {},
  check: () => void = () => {},
): Promise<readonly string[]> {
  const names: string[] = []
  const source = { check, names: () => records.keys(), read: (name: string) => records.get(name) }
  for await (const { name } of listRecords(source, prefix)) {
    names.push(name)
    meanwhile(names.length)
  }
  return names
}

function recordsOf(count: number): Map<string, LeaseRecord> {
  const names = Array.from({ length: count }, (_, place) => `name ${place}`)
  return new Map(names.map((name) => [name, recordOf(name)]))
}

describe('a listing', () => {
  it('yields the names with the prefix only', async () => {
    const records = new Map(['a/1', 'a', 'b/a/', 'a/2'].map((name) => [name, recordOf(name)]))
    expect(await namesOf(records, 'a/')).toEqual(['a/1', 'a/2'])
  })

  it('misses no name, and yields none twice, while others are deleted and created', async () => {
    const records = recordsOf(2_000)
    const listed = await namesOf(records, '', (place) => {
      records.set(`new ${place}`, recordOf(`new ${place}`))
      for (const name of [`name ${place}`, `name ${2_000 - place}`]) {
        if (!records.delete(name) || place % 2 === 0) continue
        records.set(name, recordOf(name))
      }
    })
    expect(new Set(listed).size).toBe(listed.length)
    for (let place = 1; place < 2_000; place += 2) expect(listed).toContain(`name ${place}`)
  })

  it('of 100,000 names lets the event loop turn after at most 250 records', async () => {
    let turns = 0
    let isOver = false
    const count = (): void => {
      turns += 1
      if (!isOver) setImmediate(count)
    }
    onTestFinished(() => {
      isOver = true
    })
    setImmediate(count)
    expect(await namesOf(recordsOf(100_000))).toHaveLength(100_000)
    expect(turns).toBeGreaterThanOrEqual(400)
  })

  it('ends with the error of the check', async () => {
    let isClosed = false
    const names = namesOf(
      recordsOf(10),
      '',
      (listed) => {
        isClosed = listed === 3
      },
      () => {
        if (isClosed) throw new Error('the store is closed')
      },
    )
    await expect(names).rejects.toThrow('the store is closed')
  })
})
