import { describeOperation } from '../../history/describe-operation.js'
import type { Operation } from '../../history/operation.js'
import { byName } from '../by-name.js'
import type { Violation } from '../report.js'
import { failingPiece } from './failing-piece.js'
import { linearize } from './linearize.js'
import { isRegisterCall } from './register-call.js'

/**
 * The guarded register of each name is linearizable: a write is accepted exactly if its token is not smaller than the largest
 * that was accepted before, and a read returns the value of the last accepted write. A write whose outcome is unknown has its
 * effect once, at any time after it was called, or never; or its token is recorded, and its value is not: a guard records the
 * token first, so that no smaller one is accepted meanwhile. The first break of each name is reported.
 */
export function checkRegister(operations: readonly Operation[]): Violation[] {
  const violations: Violation[] = []
  for (const [name, calls] of byName(operations.filter(isRegisterCall))) {
    calls.sort((left, right) => left.from - right.from)
    const unexplained = linearize(calls)
    if (unexplained === undefined) continue
    const piece = failingPiece(calls, unexplained.at)
    const last = piece.reduce((latest, call) => (settledAt(call) > settledAt(latest) ? call : latest))
    violations.push({
      check: 'register',
      name,
      at: settledAt(last),
      message: `no order of ${piece.length} calls explains that of client ${last.client}: ${describeOperation(last)}`,
      operations: piece,
    })
  }
  return violations
}

function settledAt({ to, from }: Operation): number {
  return Number.isFinite(to) ? to : from
}
