import { runToEnd } from '@leasehold/testing'
import { describe, expect, it } from 'vitest'

const program = new URL('../programs/channel-subscribers.mjs', import.meta.url)

describe.concurrent('a subscriber of the channels in plain JavaScript', () => {
  it('that throws does not reach the lease: its error is an uncaught exception', async () => {
    const { code, lines, errors } = await runToEnd(program, ['handled'])
    expect(
      lines.filter((line) => !line.startsWith('the subscriber')),
      errors,
    ).toEqual(['acquired: true', 'valid: true', 'released: true'])
    const failures = new Set(lines.filter((line) => line.startsWith('the subscriber')))
    expect(failures).toEqual(
      new Set(['acquired', 'renewed', 'released'].map((name) => `the subscriber of ${name} failed`)),
    )
    expect(code).toBe(0)
  })

  it('that throws ends a process without a handler, and is named', async () => {
    const { code, lines, errors } = await runToEnd(program, ['unhandled'])
    expect(lines).toEqual([])
    expect(errors).toContain('the subscriber of acquired failed')
    expect(code).toBe(1)
  })

  it('hears of the leases of its own thread', async () => {
    const { code, lines, errors } = await runToEnd(program, ['threads'])
    expect(lines, errors).toEqual(['worker heard of worker', 'main heard of main'])
    expect(code).toBe(0)
  })

  it('hears nothing where the process has no channels, and the lease works', async () => {
    const { code, lines, errors } = await runToEnd(program, ['absent'])
    expect(lines, errors).toEqual(['done: 1'])
    expect(code).toBe(0)
  })
})
