import { runToEnd } from '@leasehold/testing'
import { describe, expect, it } from 'vitest'

const kinds = ['election', 'candidate', 'schedule', 'partitions']

describe.concurrent('a process that does nothing but run a recipe', () => {
  it.for(kinds)('stays alive until it is stopped: %s', async (kind, { expect }) => {
    const { code, lines, errors } = await runToEnd(new URL('started-recipe.ts', import.meta.url), [kind])
    expect([lines, code], errors).toEqual([['stopped'], 0])
  })

  it.for([...kinds, 'schedule without answers'])('ends at once with keepAlive: false: %s', async (kind, { expect }) => {
    const { code, lines, errors } = await runToEnd(new URL('started-recipe.ts', import.meta.url), [kind, 'false'])
    expect([lines, code], errors).toEqual([[], 0])
  })

  it('stays alive until each pending call has settled', async () => {
    const { code, lines, errors } = await runToEnd(new URL('pending-calls.ts', import.meta.url))
    expect(lines, errors).toHaveLength(31)
    expect([lines.at(-1), code]).toEqual(['end', 0])
  })
})
