import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { MemoryLeaseStore } from '@leasehold/core'
import type { StoreLimits } from '@leasehold/core/store'
import { memorySubject } from '@leasehold/testing/memory-subject'
import {
  checkLeaseLaw,
  checkStoreLaw,
  guardLaws,
  leaseLaws,
  leasesOver,
  type StoreSubject,
  storeLaws,
} from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'

const lawOf = <L extends { name: string }>(laws: readonly L[], name: string): L => {
  const law = laws.find((one) => one.name === name)
  if (law === undefined) throw new Error(`there is no law '${name}'`)
  return law
}

describe('the laws', () => {
  it('are at least eighty, each with a name of its own in its family', () => {
    for (const laws of [storeLaws, leaseLaws]) {
      const names = laws.map(({ family, name }) => `${family}: ${name}`)
      expect(new Set(names).size).toBe(names.length)
    }
    expect(storeLaws.length + leaseLaws.length).toBeGreaterThanOrEqual(80)
  })

  it('report kept laws, and skip laws that a subject cannot run, with the reason', async () => {
    const kept = lawOf(storeLaws, 'frees the name at once, for all clients')
    expect(await checkStoreLaw(kept, memorySubject)).toEqual({ kept: true })
    const skipped = lawOf(storeLaws, 'a grant survives a restart of the backend')
    const outcome = await checkStoreLaw(skipped, memorySubject)
    expect(outcome).toEqual({ kept: false, skipped: 'the subject cannot restart the backend' })
  })

  it('reject broken laws with the expected value, and stop the backend', async () => {
    let stopped = 0
    const broken: StoreSubject = {
      name: 'a store that frees any grant',
      time: 'virtual',
      serverTime: true,
      start: (clock) => {
        const store = new MemoryLeaseStore({ clock })
        const release: typeof store.release = async (grant) => {
          const record = await store.read(grant.name)
          return record === undefined
            ? { released: false }
            : await MemoryLeaseStore.prototype.release.call(store, { ...grant, ...record })
        }
        Object.assign(store, { release, immediate: undefined })
        return {
          open: () => store,
          stop: () => {
            stopped += 1
          },
        }
      },
    }
    const storeLaw = lawOf(storeLaws, 'under another grant id frees nothing')
    await expect(checkStoreLaw(storeLaw, broken)).rejects.toThrow(/true/)
    const leaseLaw = lawOf(leaseLaws, 'by a stale holder does not free the grant of its successor')
    await expect(checkLeaseLaw(leaseLaw, leasesOver(broken))).rejects.toThrow()
    expect(stopped).toBe(2)
  })

  it('wait for as long as the limits of the store say that it keeps the name of a silent holder', async () => {
    const late = (frees: StoreLimits['frees']): StoreSubject => ({
      name: 'a store that frees names late',
      time: 'virtual',
      serverTime: true,
      start: (clock) => {
        const store = new MemoryLeaseStore({ clock })
        const acquire: typeof store.acquire = (request, call) =>
          MemoryLeaseStore.prototype.acquire.call(store, { ...request, ttl: request.ttl * 2 + 500 }, call)
        return { open: () => Object.assign(store, { acquire, limits: { ...store.limits, frees } }) }
      },
    })
    const storeLaw = lawOf(storeLaws, 'a request after the ttl is granted, with a larger token')
    await expect(checkStoreLaw(storeLaw, late(undefined))).rejects.toThrow()
    expect(await checkStoreLaw(storeLaw, late({ ttls: 2, extra: 500 }))).toEqual({ kept: true })
  })

  it('run under node:test, which reports why laws are skipped', async () => {
    const file = fileURLToPath(new URL('support/node-test-laws.ts', import.meta.url))
    const options = ['--import', 'tsx', '--conditions', '@leasehold/source', '--test', '--test-reporter=tap', file]
    // Without this variable of the outer runner, node would report to that runner.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const { stdout } = await promisify(execFile)(process.execPath, options, { env })
    const count = (result: string): number => Number(new RegExp(`^# ${result} (\\d+)$`, 'm').exec(stdout)?.[1])
    expect(count('fail')).toBe(0)
    expect(count('skipped')).toBeGreaterThan(5)
    expect(count('pass') + count('skipped')).toBe(storeLaws.length + leaseLaws.length + guardLaws.length)
    expect(stdout).toMatch(/# SKIP the subject cannot restart the backend/)
  })
})
