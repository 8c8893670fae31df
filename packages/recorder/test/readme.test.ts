import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { LeaseConfigurationError, LeaseProvider, MemoryLeaseStore } from '@leasehold/core'
import { eventually, temporaryFolder } from '@leasehold/testing'
import { describe, expect, it } from 'vitest'
import { reportLease } from './readme/recorder.js'

describe('the example', () => {
  it('writes a recording at the signal', async () => {
    const folder = join(temporaryFolder(), 'recordings')
    const lease = reportLease(new MemoryLeaseStore(), folder)
    expect(await lease.acquire()).toBe(true)
    process.kill(process.pid, 'SIGUSR2')
    await eventually('a file', async () => readdirSync(folder).some((file) => file.endsWith('-signal.rec')))
    await lease.release()
    process.removeAllListeners('SIGUSR2')
  })
})

it('the example of stacks is a recorder', async () => {
  const cwd = process.cwd()
  process.chdir(temporaryFolder())
  const { recorder } = await import('./readme/stack.js').finally(() => process.chdir(cwd))
  expect(typeof recorder.write).toBe('function')
})

describe('a configuration', () => {
  const lease = { 'lease-class': '@leasehold/core#memoryLease' }

  it('switches the recorder on with a folder, and it writes at a loss', async () => {
    const folder = join(temporaryFolder(), 'recordings')
    await using provider = new LeaseProvider({
      leasehold: { lease: { ...lease, recorder: { folder, size: '1000', stack: 'on' } } },
    })
    const { store, recorder } = await provider.getStore('job', 'leasehold.lease')
    expect(recorder).toBeDefined()
    const job = await provider.getLease('job', 'leasehold.lease')
    expect(await job.acquire()).toBe(true)
    await store.close()
    await eventually('a file', async () => readdirSync(folder).some((file) => file.endsWith('-lost.rec')))
  })

  it('leaves it off where the folder is empty', async () => {
    await using provider = new LeaseProvider({ leasehold: { lease: { ...lease, recorder: { folder: '', size: '' } } } })
    expect((await provider.getStore('job', 'leasehold.lease')).recorder).toBeUndefined()
  })

  it('refuses a size that is no number, and a value that is no block', async () => {
    for (const recorder of [{ folder: 'x', size: 'many' }, { folder: 'x', stack: 'perhaps' }, 'recordings']) {
      await using provider = new LeaseProvider({ leasehold: { lease: { ...lease, recorder } } })
      await expect(provider.getLease('job', 'leasehold.lease')).rejects.toThrow(LeaseConfigurationError)
    }
  })
})
