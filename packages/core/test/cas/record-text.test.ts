import type { CasRecord } from '@leasehold/core/store'
import { recordIn, recordText } from '@leasehold/core/store-kit'
import { describe, expect, it } from 'vitest'

const record: CasRecord = {
  owner: 'anna',
  grantId: 'g',
  fencingToken: 2n ** 63n - 1n,
  ttl: 5_000,
  revision: 7,
  metadata: { a: 'ü' },
  previous: {},
  breakPeriod: 0,
  displaced: { grantId: 'h', ttl: 1, renewals: 2 },
  renewals: { count: 3, revision: 7 },
}

describe('the text of a record', () => {
  it('gives every field back', () => {
    expect(recordText(record)).not.toContain('\n')
    expect(recordIn(recordText(record))).toEqual(record)
  })

  it.each(['', 'no JSON', 'null', '7', '"a"', '[]', '{}', '{"fencingToken":5}', '{"fencingToken":"-1"}'])(
    'gives no record for %s, which another program wrote',
    (text) => {
      expect(recordIn(text).fencingToken).toBeUndefined()
      expect(recordIn(text).owner).toBeUndefined()
    },
  )
})
