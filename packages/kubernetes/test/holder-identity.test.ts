import { describe, expect, it } from 'vitest'
import { fromIdentity, toIdentity } from '../src/holder-identity.js'

const GUID = '00000000-0000-4000-8000-00000000000a'

describe('the identity of a holder', () => {
  it.each(['me', 'a_b', '_', `x_${GUID}`])(
    'of the owner %s is read as it was written, with its note or without',
    (owner) => {
      const identity = toIdentity({ owner, grantId: GUID })
      expect(fromIdentity(identity, GUID)).toEqual({ owner, grantId: GUID })
      expect(fromIdentity(identity, undefined)).toEqual({ owner, grantId: GUID })
      expect(fromIdentity(identity, 'of another grant')).toEqual({ owner, grantId: GUID })
    },
  )

  it('whose grant id is not a GUID, and has underscores, is read with its annotation', () => {
    const holder = { owner: 'a_b', grantId: 'c_d' }
    expect(fromIdentity(toIdentity(holder), 'c_d')).toEqual(holder)
  })

  it.each(['go-controller_1', 'plain', `_${GUID}`, `x${GUID}`, `x_${GUID}0`])(
    'that is not made so is owner and grant id at once: %s',
    (identity) => {
      for (const noted of [undefined, 'g'])
        expect(fromIdentity(identity, noted)).toEqual({ owner: identity, grantId: identity })
    },
  )

  it('does not match an annotation whose id is only its ending', () => {
    expect(fromIdentity('host_10', '0')).toEqual({ owner: 'host_10', grantId: 'host_10' })
  })
})
