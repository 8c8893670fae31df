import type {
  AcquiredMessage,
  AcquireMessage,
  JeopardyMessage,
  LeaseMessage,
  LostMessage,
  RecoveredMessage,
  ReleasedMessage,
  RunMessage,
  StoreMessage,
} from '@leasehold/core/channels'
import {
  type Attributes,
  type Context,
  context,
  type Link,
  type Span,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { GroupNames } from './group-names.js'
import { errorType } from './lease-series.js'
import type { Subscriptions } from './subscriptions.js'
import type { TermLinks } from './term-links.js'

type Named = Pick<StoreMessage, 'leaseName' | 'owner' | 'store'>

/** The span of an operation, on its message, which is the same object from the beginning to the end. */
const SPAN = Symbol('span')

interface Traced {
  [SPAN]?: Span | undefined
}

/** The outcomes of an acquire that are failures: a lease that another owner holds is none. */
const FAILURES = new Set(['unknown', 'failed'])

/** Traces acquisitions, runs, terms and hand-offs. */
export class LeaseSpans {
  readonly #tracer: Tracer
  readonly #groups: GroupNames
  readonly #links: TermLinks
  /** The last span in which a lease was asked for. */
  readonly #acquires = new WeakMap<object, Span>()
  readonly #terms = new Map<object, Span>()

  constructor(tracer: Tracer, groups: GroupNames, links: TermLinks) {
    this.#tracer = tracer
    this.#groups = groups
    this.#links = links
  }

  subscribe(subscriptions: Subscriptions): void {
    subscriptions.onOperation<AcquireMessage>('leasehold:acquire', {
      begin: (message: AcquireMessage & Traced) => {
        message[SPAN] = this.#begin('acquire', message)
        this.#acquires.set(message.lease, message[SPAN])
      },
      end: (message) => this.#end(message),
    })
    subscriptions.bindContext<RunMessage>('leasehold:run', (message) =>
      trace.setSpan(context.active(), this.#beginRun(message)),
    )
    subscriptions.onOperation<RunMessage>('leasehold:run', {
      begin: (message) => void this.#beginRun(message),
      end: (message) => this.#end(message),
    })
    subscriptions.onOperation<StoreMessage>('leasehold:store', {
      begin: (message: StoreMessage & Traced) => {
        if (message.operation === 'change') message[SPAN] = this.#begin('hand-off', message)
      },
      end: (message) => this.#end(message),
    })
    this.#links.subscribe(subscriptions)
    subscriptions.on<AcquiredMessage>('leasehold:acquired', (message) => this.#beginTerm(message))
    subscriptions.on<JeopardyMessage>('leasehold:jeopardy', (message) => {
      this.#note(message, 'jeopardy', { ...errorType(message.cause), ...remainingOf(message) })
    })
    subscriptions.on<RecoveredMessage>('leasehold:recovered', (message) => {
      this.#note(message, 'recovered', remainingOf(message))
    })
    subscriptions.on<LostMessage>('leasehold:lost', (message) => {
      this.#note(message, 'lost', { reason: message.reason })
      this.#endTerm(message, { end: 'lost', reason: message.reason })
    })
    subscriptions.on<ReleasedMessage>('leasehold:released', (message) => this.#endTerm(message, { end: message.end }))
  }

  /** Ends the spans of the terms that go on. */
  end(): void {
    for (const span of this.#terms.values()) span.end()
    this.#terms.clear()
  }

  #begin(operation: string, message: Named, { parent, links = [] }: { parent?: Context; links?: Link[] } = {}): Span {
    const { leaseName, owner, store } = message
    const group = leaseName === undefined ? undefined : this.#groups.of(leaseName)
    const attributes: Attributes = {
      ...(leaseName === undefined ? {} : { 'lease.name': leaseName }),
      ...(group === undefined ? {} : { 'lease.group': group }),
      ...(owner === undefined ? {} : { 'lease.owner': owner }),
      ...(store === undefined ? {} : { store }),
      ...tokenOf(message),
    }
    const name = group === undefined ? operation : `${operation} ${group}`
    return this.#tracer.startSpan(name, { attributes, links }, parent ?? context.active())
  }

  /** Below the span of the caller. A caller that has none gets its run below the term. */
  #beginRun(message: RunMessage & Traced): Span {
    if (message[SPAN] !== undefined) return message[SPAN]
    const term = this.#terms.get(message.lease)
    const active = context.active()
    const isInSpan = trace.getSpan(active) !== undefined
    const span = this.#begin('run', message, {
      parent: isInSpan || term === undefined ? active : trace.setSpan(active, term),
      ...(isInSpan && term !== undefined && { links: [{ context: term.spanContext() }] }),
    })
    message[SPAN] = span
    return span
  }

  #beginTerm(message: AcquiredMessage): void {
    this.#terms.get(message.lease)?.end()
    const acquire = this.#acquires.get(message.lease)
    this.#acquires.delete(message.lease)
    const span = this.#begin('term', message, {
      ...(acquire !== undefined && { parent: trace.setSpan(context.active(), acquire) }),
      links: this.#links.toPrevious(message),
    })
    this.#terms.set(message.lease, span)
    this.#links.leave(message, span.spanContext())
  }

  #endTerm({ lease }: LeaseMessage, attributes: Attributes): void {
    const span = this.#terms.get(lease)
    if (span === undefined) return
    this.#terms.delete(lease)
    span.setAttributes(attributes)
    if (attributes.end === 'lost') span.setStatus({ code: SpanStatusCode.ERROR, message: `lost: ${attributes.reason}` })
    span.end()
  }

  #note({ lease }: LeaseMessage, event: string, attributes: Attributes): void {
    this.#terms.get(lease)?.addEvent(event, attributes)
  }

  #end(message: (AcquireMessage | RunMessage | StoreMessage) & Traced): void {
    const span = message[SPAN]
    if (span === undefined) return
    message[SPAN] = undefined
    const { outcome, error } = message
    span.setAttributes({ ...(outcome === undefined ? {} : { outcome }), ...errorType(error), ...tokenOf(message) })
    if (isFailure(outcome, error)) {
      span.setStatus({ code: SpanStatusCode.ERROR, ...(error instanceof Error && { message: error.message }) })
    }
    span.end()
  }
}

function isFailure(outcome: string | undefined, error: unknown): boolean {
  return outcome === undefined ? error !== undefined : FAILURES.has(outcome)
}

function tokenOf(message: object): Attributes {
  const { fencingToken } = message as { readonly fencingToken?: bigint | undefined }
  // OpenTelemetry has no 64-bit integers in JavaScript.
  return fencingToken === undefined ? {} : { 'lease.fencing_token': String(fencingToken) }
}

/** In seconds, as the metrics. */
function remainingOf({ remaining }: { readonly remaining: number }): Attributes {
  return Number.isFinite(remaining) ? { remaining: remaining / 1_000 } : {}
}
