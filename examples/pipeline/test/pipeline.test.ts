import { setTimeout as pause } from 'node:timers/promises'
import { MemoryLeaseStore, readLease } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { runExample } from '../../../tools/run-example.js'
import { runStage, type Stage } from '../src/stage.js'

describe.concurrent('a pipeline of three services', { timeout: 120_000 }, () => {
  it('publishes each order once, in order, though a holder is killed', () => {
    expect(runExample('pipeline')).toEqual({
      status: 0,
      lines: [
        'ingest, transform and publish each have a holder',
        'the holder of transform is killed at order 5',
        'its successor goes on at order 5, with a larger fencing token',
        'all 12 orders were published once, in order',
      ],
      stderr: '',
    })
  })

  it('goes on at the position that the last holder left', async () => {
    const store = new MemoryLeaseStore()
    const stop = new AbortController()
    const source = ['a', 'b', 'c']
    const written: [number, string, bigint][] = []
    const granted: number[] = []
    const stage: Stage = {
      name: 'copy',
      source: () => source,
      convert: async (item) => item,
      write: (position, result, token) => void written.push([position, result, token]),
      onGranted: (position) => void granted.push(position),
    }
    const first = new AbortController()
    const ended = runStage(store, stage, first.signal)
    while ((await readLease(store, 'pipeline/copy'))?.metadata.position !== '3') await pause(10)
    first.abort()
    await ended
    source.push('d')
    const next = runStage(store, stage, stop.signal)
    while (written.length < 4) await pause(10)
    stop.abort()
    await next
    expect(granted).toEqual([0, 3])
    expect(written.map(([position, result]) => [position, result])).toEqual(source.map((item, place) => [place, item]))
    const tokens = written.map(([, , token]) => token)
    expect(tokens[3]).toBeGreaterThan(tokens[2] ?? 0n)
    expect((await readLease(store, 'pipeline/copy'))?.state).toBe('available')
  })
})
