import { wallTime } from '@leasehold/core/store-kit'
import { toMicroTime } from '../../src/layouts/lease-layout.js'

type Spec = Readonly<Record<string, unknown>>

const now = (): string => toMicroTime(wallTime() * 1_000)

/** The records that client-go's leader election writes. */
export const clientGo = {
  acquired: (holderIdentity: string, leaseDurationSeconds: number): Spec => ({
    holderIdentity,
    leaseDurationSeconds,
    acquireTime: now(),
    renewTime: now(),
    leaseTransitions: 0,
  }),
  takenOver: (before: Spec, holderIdentity: string, leaseDurationSeconds: number): Spec => ({
    holderIdentity,
    leaseDurationSeconds,
    acquireTime: now(),
    renewTime: now(),
    leaseTransitions: Number(before.leaseTransitions) + 1,
  }),
  released: (before: Spec): Spec => ({
    holderIdentity: '',
    leaseDurationSeconds: 1,
    acquireTime: now(),
    renewTime: now(),
    leaseTransitions: before.leaseTransitions,
  }),
}
