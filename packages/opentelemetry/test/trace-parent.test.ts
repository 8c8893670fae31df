import { expect, it } from 'vitest'
import { fromTraceParent, toTraceParent } from '../src/trace-parent.js'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'

it('writes and reads the format of W3C', () => {
  const text = toTraceParent({ traceId, spanId, traceFlags: 1 })
  expect(text).toBe(`00-${traceId}-${spanId}-01`)
  expect(fromTraceParent(text)).toEqual({ traceId, spanId, traceFlags: 1, isRemote: true })
})

it('reads a later version, and nothing from what is none', () => {
  expect(fromTraceParent(`cc-${traceId}-${spanId}-00-more`)).toMatchObject({ spanId, traceFlags: 0 })
  const others = [
    undefined,
    7,
    '',
    'x',
    `00-${traceId}-${spanId}`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${spanId}-012`,
  ]
  expect(others.map(fromTraceParent)).toEqual(others.map(() => undefined))
})
