import type { StoreHeld } from '@leasehold/core'
import { Reflector } from '@nestjs/core'

interface HeldParameter {
  readonly index: number
  readonly read: (held: StoreHeld) => unknown
}

const heldParameters = Reflector.createDecorator<readonly HeldParameter[]>()

/**
 * The fencing token of the lease, a `bigint`, as a parameter of a method with `@WithLease`, `@LeasedCron`, `@OnLeader` or a
 * guarded `@Cron`. Send it with each write, and let the resource reject smaller ones.
 */
export function LeaseToken(): ParameterDecorator {
  return heldParameter(({ fencingToken }) => fencingToken)
}

/** The signal of the lease, as a parameter of such a method. It aborts when the work has to end: at a loss and at shutdown. */
export function LeaseSignal(): ParameterDecorator {
  return heldParameter(({ signal }) => signal)
}

/** All that the work knows of its lease, as a parameter of such a method: a `StoreHeld`, a `Tick` or a `Term`. */
export function LeaseHeld(): ParameterDecorator {
  return heldParameter((held) => held)
}

/** The arguments of a method: those that it was given, and what its parameter decorators ask for. */
export function withHeld(method: object, given: readonly unknown[], held: StoreHeld): unknown[] {
  const args = [...given]
  for (const { index, read } of parametersOf(method)) args[index] = read(held)
  return args
}

function heldParameter(read: HeldParameter['read']): ParameterDecorator {
  return (target, key, index) => {
    if (key === undefined) throw new TypeError('a parameter of a constructor cannot have a part of a lease')
    const method = (target as Record<string | symbol, object>)[key] as object
    const descriptor = Object.getOwnPropertyDescriptor(target, key) as PropertyDescriptor
    heldParameters([...parametersOf(method), { index, read }])(target, key, descriptor)
  }
}

function parametersOf(method: object): readonly HeldParameter[] {
  return new Reflector().get<readonly HeldParameter[] | undefined>(heldParameters.KEY, method as never) ?? []
}
