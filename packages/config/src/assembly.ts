import { ConfigLimitError } from './config-error.js'
import type { Limits } from './limits.js'
import { isSamePath } from './path-expression.js'
import { type Append, type Assignment, type Scope, Slot } from './slot.js'
import type { Document, Expression, Field, ObjectLiteral, Statement } from './syntax-tree.js'

/** Where statements are carried out: in an object, whose path and slot these are. */
interface Place {
  readonly slot: Slot
  readonly path: readonly string[] | undefined
  readonly enclosing: readonly string[]
  readonly prefix: readonly string[]
  /** The order of the mark that the object counts under. */
  readonly since: number
  /** The scope of the value that the object is part of. */
  readonly outer: Scope | undefined
}

/**
 * Lays the statements of documents over one another: for each key, what was assigned to it, one after the other.
 * Nothing is resolved here, so that a substitution in one document can refer to another.
 */
export class Assembly {
  readonly #limits: Limits
  #order = 0

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /** The root of documents, the last of which wins. */
  root(documents: readonly Document[]): Slot {
    const slot = new Slot()
    for (const { statements } of documents)
      this.#run(statements, { slot, path: [], enclosing: [], prefix: [], since: 0, outer: undefined })
    return slot
  }

  /** The root of an object that is part of another value. */
  literal({ statements }: ObjectLiteral, scope: Scope): Slot {
    const slot = new Slot()
    const { path, enclosing, prefix } = scope
    this.#run(statements, { slot, path, enclosing, prefix, since: 0, outer: scope })
    return slot
  }

  #run(statements: readonly Statement[], place: Place): void {
    for (const statement of statements) {
      if (statement.kind === 'field') this.#assign(statement, place)
      else
        for (const { statements } of statement.documents) this.#run(statements, { ...place, prefix: place.path ?? [] })
    }
  }

  #assign({ path, append, value }: Field, place: Place): void {
    const { origin } = value
    const order = this.#order++
    let { slot, since } = place
    for (const key of path.slice(0, -1)) {
      slot = slot.child(key)
      since = slot.mark(order, since, origin)
    }
    slot = slot.child(path.at(-1) ?? '')
    if ((place.path?.length ?? 0) + path.length > this.#limits.maxDepth) {
      throw new ConfigLimitError(`nested deeper than maxDepth, ${this.#limits.maxDepth}, allows`, origin)
    }
    if (!append && value.kind === 'scalar') {
      slot.assign({ kind: 'scalar', order, value }, since)
      return
    }
    const whole = place.path === undefined ? undefined : [...place.path, ...path]
    const enclosing = whole ?? place.enclosing
    if (!append && value.kind === 'object-literal') {
      const mark = slot.mark(order, since, origin)
      this.#run(value.statements, { ...place, slot, path: whole, enclosing, since: mark })
      return
    }
    const expression: Expression | Append = append ? { kind: 'append', element: value, origin } : value
    const looksBack = expression.kind !== 'list-literal'
    const { prefix, outer } = place
    const scope: Scope = { path: whole, enclosing, prefix, slot, order, looksBack, outer }
    const refersToItself = doesReferToItself(expression, scope)
    const assignment: Assignment = { kind: 'assignment', order, expression, scope, origin, refersToItself }
    slot.assign(assignment, since)
  }
}

function doesReferToItself(expression: Expression | Append, { path, prefix }: Scope): boolean {
  if (path === undefined) return false
  if (expression.kind === 'append') return true
  const parts = expression.kind === 'concatenation' ? expression.parts : [expression]
  return parts.some(
    (part) => part.kind === 'reference' && (isSamePath(part.path, path) || isSamePath([...prefix, ...part.path], path)),
  )
}
