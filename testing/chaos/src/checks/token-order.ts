import type { History } from '../history/history.js'
import type { Operation } from '../history/operation.js'
import { byName } from './by-name.js'
import type { Violation } from './report.js'
import type { SeenGrant } from './seen-grant.js'

/** A call that shows that a token had been given before it settled. */
interface Given {
  readonly name: string
  readonly token: bigint
  readonly operation: Operation
}

/**
 * A grant whose acquire was called after an earlier token had been given must have a larger token. No token is given twice. An
 * acquire that finds what its process holds already is the same grant.
 */
export function checkTokenOrder({ operations }: History, grants: readonly SeenGrant[]): Violation[] {
  const violations: Violation[] = []
  const given: Given[] = []
  for (const operation of operations) {
    const isGiven = operation.call === 'acquire' || operation.call === 'check'
    if (!isGiven || operation.token === undefined) continue
    given.push({ name: operation.name, token: operation.token, operation })
  }
  const seen = byName(given)
  for (const [name, ofName] of byName(grants)) {
    violations.push(...givenTwice(name, ofName), ...outOfOrder(name, ofName, seen.get(name) ?? []))
  }
  return violations
}

function givenTwice(name: string, grants: readonly SeenGrant[]): Violation[] {
  const violations: Violation[] = []
  const first = new Map<bigint, SeenGrant>()
  for (const grant of grants) {
    const operation = firstSign(grant)
    if (operation === undefined) continue
    const earlier = first.get(grant.token)
    const earlierOperation = earlier === undefined ? undefined : firstSign(earlier)
    if (earlierOperation === undefined) first.set(grant.token, grant)
    else {
      violations.push({
        check: 'token-order',
        name,
        at: Math.max(earlierOperation.to, operation.to),
        message: `the token ${grant.token} was given to client ${earlierOperation.client} and to client ${grant.client}`,
        operations: [earlierOperation, operation],
      })
    }
  }
  return violations
}

function outOfOrder(name: string, grants: readonly SeenGrant[], given: readonly Given[]): Violation[] {
  const violations: Violation[] = []
  const settled = given.toSorted((left, right) => left.operation.to - right.operation.to)
  const acquires = grants.flatMap(({ token, acquires: [operation] }) => (operation ? [{ token, operation }] : []))
  acquires.sort((left, right) => left.operation.from - right.operation.from)
  let largest: Given | undefined
  let next = 0
  for (const { token, operation } of acquires) {
    for (; next < settled.length; next += 1) {
      const earlier = settled[next]
      if (earlier === undefined || earlier.operation.to >= operation.from) break
      if (largest === undefined || earlier.token > largest.token) largest = earlier
    }
    if (largest === undefined || token > largest.token) continue
    // Reported as given twice.
    if (token === largest.token) continue
    violations.push({
      check: 'token-order',
      name,
      at: operation.to,
      message: `client ${operation.client} was given the token ${token} after ${largest.token} had been given to client ${largest.operation.client}`,
      operations: [largest.operation, operation],
    })
  }
  return violations
}

function firstSign({ acquires, held }: SeenGrant): Operation | undefined {
  return acquires[0] ?? held[0]
}
