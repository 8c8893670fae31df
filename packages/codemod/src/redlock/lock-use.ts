import ts from 'typescript'
import { NotSure } from './not-sure.js'

/** `lock.release()`, `lock.unlock()`, `redlock.release(lock)` or `redlock.unlock(lock)`, for a lock and an instance by name. */
export function isRelease(node: ts.Node, lock: string, receiver: string): node is ts.CallExpression {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false
  if (!/^(release|unlock)$/.test(node.expression.name.text)) return false
  const owner = node.expression.expression.getText()
  const [argument] = node.arguments
  if (owner === lock) return node.arguments.length === 0
  return owner === receiver && node.arguments.length === 1 && argument?.getText() === lock
}

const members: Readonly<Record<string, string>> = {
  extend: 'a lease renews itself, so extend is not needed: delete this call, and run this again',
  value:
    'a lease has no random value: use its fencingToken, a number that grows with each holder, and check it where you write',
  expiration: 'a lease renews itself: ask lease.checkLease() whether it is still held, or read lease.remaining',
}

/** Why a use of a lock has to be changed by hand. */
export function doubtAboutLock(reference: ts.MemberName): NotSure {
  const { parent } = reference
  if (ts.isPropertyAccessExpression(parent) && parent.expression === reference) {
    const sentence = members[parent.name.text] ?? `a lease has no ${parent.name.text} of this kind`
    return new NotSure(parent, sentence.includes(':') ? sentence : `${sentence}: change this by hand`)
  }
  const call = parent
  if (ts.isCallExpression(call) && /\.extend$/.test(call.expression.getText()))
    return new NotSure(call, members.extend ?? '')
  return new NotSure(
    reference,
    'the lock is handed on here, and a lease is renewed until it is released: use createLease(…).run, or release it in a finally block',
  )
}
