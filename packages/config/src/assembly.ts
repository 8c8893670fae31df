import { ConfigLimitError } from './config-error.js'
import type { Limits } from './limits.js'
import { isSamePath } from './path-expression.js'
import { isSecretPath } from './secrets.js'
import { type Scope, Slot } from './slot.js'
import type { Document, Expression, Field, ObjectLiteral, Statement } from './syntax-tree.js'

/** The object whose statements are processed. */
interface Place extends Pick<Scope, 'slot' | 'path' | 'prefix' | 'secret' | 'outer'> {
  /** The order number of the object's mark. */
  readonly since: number
}

/**
 * Collects the assignments of all documents by key, in order. Substitutions are not resolved here, because a
 * substitution in one document can refer to another document.
 */
export class Assembly {
  readonly #limits: Limits
  #order = 0

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /** The root object of the documents. The last document wins. */
  root(documents: readonly Document[]): Slot {
    const slot = new Slot()
    for (const { statements, secret = false } of documents)
      this.#run(statements, { slot, path: [], prefix: [], secret, since: 0, outer: undefined })
    return slot
  }

  /** The root of an object literal that is part of another value. */
  literal({ statements }: ObjectLiteral, scope: Scope): Slot {
    const slot = new Slot()
    this.#run(statements, { ...scope, slot, since: 0, outer: scope })
    return slot
  }

  #run(statements: readonly Statement[], place: Place): void {
    for (const statement of statements) {
      if (statement.kind === 'field') this.#assign(statement, place)
      else
        for (const { statements } of statement.documents) this.#run(statements, { ...place, prefix: place.path ?? [] })
    }
  }

  #assign({ path, value }: Field, place: Place): void {
    const { origin } = value
    const order = this.#order++
    let { slot, since } = place
    for (const key of path.slice(0, -1)) {
      slot = slot.child(key)
      since = slot.mark(order, since, origin)
    }
    slot = slot.child(path.at(-1) ?? '')
    if ((place.path?.length ?? 0) + path.length > this.#limits.maxDepth) {
      throw new ConfigLimitError(`objects are nested deeper than maxDepth (${this.#limits.maxDepth})`, origin)
    }
    const whole = place.path === undefined ? undefined : [...place.path, ...path]
    const secret = place.secret || isSecretPath(path)
    if (value.kind === 'object') {
      const mark = slot.mark(order, since, origin)
      this.#run(value.statements, { ...place, slot, path: whole, secret, since: mark })
      return
    }
    const { prefix, outer } = place
    const looksBack = value.kind !== 'list'
    const scope: Scope = { path: whole, prefix, secret, slot, order, looksBack, outer }
    const refersToItself = doesReferToItself(value, scope)
    slot.assign({ kind: 'assignment', order, expression: value, scope, refersToItself }, since)
  }
}

function doesReferToItself(expression: Expression, { path, prefix }: Scope): boolean {
  if (path === undefined) return false
  if (expression.kind === 'append') return true
  const parts = expression.kind === 'concatenation' ? expression.parts : [expression]
  return parts.some(
    (part) => part.kind === 'reference' && (isSamePath(part.path, path) || isSamePath([...prefix, ...part.path], path)),
  )
}
