import { runToEnd } from '@leasehold/testing'
import { describe, expect, it } from 'vitest'

describe.concurrent('a process that does nothing but wait for a lease', () => {
  it('stays alive until each pending call has settled, and not for a lease that is held', async () => {
    const { code, lines, errors } = await runToEnd(new URL('programs/pending-calls.ts', import.meta.url))
    expect(lines, errors).toEqual([
      'acquire',
      'renew',
      'update',
      'holder',
      'readLease',
      'listLeases',
      'acquire that waits',
      'release',
      'run',
      'handOff and adopt',
      'breakLease',
      'close',
      'getLease',
      'held: true, exit code 0',
    ])
    expect(code).toBe(0)
  })

  it('ends although a call is pending in virtual time, because only a test could end that', async () => {
    const { code, lines, errors } = await runToEnd(new URL('programs/virtual-call.ts', import.meta.url))
    expect([lines, code], errors).toEqual([['waiting'], 0])
  })
})
