import { MemoryLeaseStore } from '@leasehold/core'
import { createLockManager } from '@leasehold/recipes'
import { describe, expect, it } from 'vitest'
import { runExample } from '../../../tools/run-example.js'
import { catalogOf, importIfFree, importNow, usersOf } from '../src/catalog.js'

describe.concurrent('navigator.locks across processes', { timeout: 120_000 }, () => {
  it('one process imports at a time, also after a crash, and the others read together', () => {
    expect(runExample('web-locks')).toEqual({
      status: 0,
      lines: [
        'anna imports, and is killed',
        'imported one after the other: berta, clara',
        'read together: berta, clara',
      ],
      stderr: '',
    })
  })

  it('an import that hangs is shown, and stolen', async () => {
    const store = new MemoryLeaseStore()
    const times = { heartbeatTimeout: 1_000, heartbeatInterval: 50, operationTimeout: 500 }
    await using locks = createLockManager(store, { owner: 'anna', ...times })
    await using operator = createLockManager(store, { owner: 'operator', ...times })
    let begin = (_: AbortSignal): void => {}
    const begun = new Promise<AbortSignal>((resolve) => (begin = resolve))
    const hanging = catalogOf(locks).import(async (signal) => {
      begin(signal)
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    })
    const signal = await begun
    expect(await usersOf(operator)).toEqual(['anna (exclusive)'])
    expect(await importIfFree(operator, () => expect.unreachable())).toBe(false)
    const stolen = expect(hanging).rejects.toMatchObject({ name: 'AbortError' })
    await importNow(operator, async () => {})
    await stolen
    expect(signal.aborted).toBe(true)
    expect(await importIfFree(operator, async () => {})).toBe(true)
    expect(await catalogOf(locks).read(async () => 'read', AbortSignal.timeout(10_000))).toBe('read')
  })
})
