import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '@leasehold/testing'
import { describe, expect, it } from 'vitest'
import { mergeRecords } from '../src/record/merge-records.js'
import { Recorder } from '../src/record/recorder.js'

describe('the record of a process', () => {
  it('keeps a call that has not settled as unknown', () => {
    const folder = temporaryFolder()
    const recorder = new Recorder(join(folder, 'one.jsonl'), { client: 1, life: 1 })
    void recorder.call({ call: 'acquire', name: 'a' }, () => new Promise(() => {}))
    const { operations } = mergeRecords(folder)
    expect(operations).toMatchObject([
      { id: 1, call: 'acquire', name: 'a', outcome: 'unknown', client: 1, life: 1, to: Number.POSITIVE_INFINITY },
    ])
  })

  it('keeps the outcome, the token and the validity of a call that has settled', async () => {
    const folder = temporaryFolder()
    const recorder = new Recorder(join(folder, 'one.jsonl'), { client: 1, life: 1 })
    await recorder.call({ call: 'acquire', name: 'a' }, () =>
      Promise.resolve({ outcome: 'granted', token: 2n ** 60n, validUntil: 12.5 }),
    )
    const [operation] = mergeRecords(folder).operations
    expect(operation).toMatchObject({ outcome: 'granted', token: 2n ** 60n, validUntil: 12.5 })
    expect(operation?.to).toBeGreaterThanOrEqual(operation?.from ?? 0)
    expect(operation?.to).toBeLessThan(Number.POSITIVE_INFINITY)
  })

  it('puts the calls and notices of several processes in their order, under ids of their own', async () => {
    const folder = temporaryFolder()
    const first = new Recorder(join(folder, 'first.jsonl'), { client: 1, life: 1 })
    const second = new Recorder(join(folder, 'second.jsonl'), { client: 2, life: 3 })
    second.check(() => ({ name: 'a', outcome: 'not-held' }))
    first.check(() => ({ name: 'a', outcome: 'held', token: 1n, validUntil: 5 }))
    second.notice({ notice: 'lost', name: 'a', token: 1n, reason: 'expired' })
    first.notice({ notice: 'renewed', name: 'a', token: 2n, validUntil: 9 })
    const { operations, notices } = mergeRecords(folder)
    expect(operations.map(({ id, client, life }) => [id, client, life])).toEqual([
      [1, 2, 3],
      [2, 1, 1],
    ])
    expect(notices).toMatchObject([
      { notice: 'lost', client: 2, token: 1n, reason: 'expired' },
      { notice: 'renewed', client: 1, token: 2n, validUntil: 9 },
    ])
  })

  it('ignores the half of a line that a killed process may leave', () => {
    const folder = temporaryFolder()
    const file = join(folder, 'one.jsonl')
    const recorder = new Recorder(file, { client: 1, life: 1 })
    recorder.check(() => ({ name: 'a', outcome: 'not-held' }))
    appendFileSync(file, readFileSync(file, 'utf8').slice(0, 20))
    expect(mergeRecords(folder).operations).toHaveLength(1)
  })
})
