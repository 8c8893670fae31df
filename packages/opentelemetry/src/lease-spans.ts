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
import { type AllLeaseSeries, errorType } from './lease-series.js'
import type { Subscriptions } from './subscriptions.js'
import type { TermLinks } from './term-links.js'

/** The fields that a span shows; an operation of the store has no lease. */
type Named = { readonly lease?: object } & Pick<StoreMessage, 'leaseName' | 'owner' | 'store'> & WithToken

interface WithToken {
  readonly fencingToken?: bigint | undefined
}

/** OpenTelemetry has no 64-bit integers in JavaScript: it is a text. */
const TOKEN = 'lease.fencing_token'

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
  readonly #isOn: () => boolean
  readonly #groups: GroupNames
  readonly #series: AllLeaseSeries
  readonly #links: TermLinks
  /** The last span in which a lease was asked for. */
  readonly #acquires = new WeakMap<object, Span>()
  readonly #terms = new Map<object, Span>()

  /** `isOn`: whether a tracer provider is registered. */
  constructor(tracer: Tracer, isOn: () => boolean, groups: GroupNames, series: AllLeaseSeries, links: TermLinks) {
    this.#tracer = tracer
    this.#isOn = isOn
    this.#groups = groups
    this.#series = series
    this.#links = links
  }

  subscribe(subscriptions: Subscriptions): void {
    subscriptions.onOperation<AcquireMessage>('leasehold:acquire', {
      begin: (message: AcquireMessage & Traced) => {
        if (!this.#isOn()) return
        message[SPAN] = this.#begin('acquire', message)
        this.#acquires.set(message.lease, message[SPAN])
      },
      end: (message) => this.#end(message),
    })
    subscriptions.bindContext<RunMessage>('leasehold:run', (message) =>
      this.#isOn() ? trace.setSpan(context.active(), this.#beginRun(message)) : context.active(),
    )
    subscriptions.onOperation<RunMessage>('leasehold:run', {
      begin: (message) => {
        if (this.#isOn()) this.#beginRun(message)
      },
      end: (message) => this.#end(message),
    })
    subscriptions.onOperation<StoreMessage>('leasehold:store', {
      begin: (message: StoreMessage & Traced) => {
        if (message.operation === 'change' && this.#isOn()) message[SPAN] = this.#begin('hand-off', message)
      },
      end: (message) => this.#end(message),
    })
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
    const { leaseName, owner, store, lease, fencingToken } = message
    const group =
      lease === undefined ? this.#groups.of(leaseName ?? '') : this.#series.of({ lease, leaseName, store }).group
    const attributes: Attributes = { 'lease.name': leaseName, 'lease.group': group, 'lease.owner': owner, store }
    if (fencingToken !== undefined) attributes[TOKEN] = String(fencingToken)
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
    if (!this.#isOn()) return
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
    if (!span.isRecording()) return
    const { outcome, error, fencingToken } = message as typeof message & WithToken
    if (outcome !== undefined) span.setAttribute('outcome', outcome)
    if (fencingToken !== undefined) span.setAttribute(TOKEN, String(fencingToken))
    if (error !== undefined) span.setAttributes(errorType(error))
    if (isFailure(outcome, error)) {
      span.setStatus({ code: SpanStatusCode.ERROR, ...(error instanceof Error && { message: error.message }) })
    }
    span.end()
  }
}

function isFailure(outcome: string | undefined, error: unknown): boolean {
  return outcome === undefined ? error !== undefined : FAILURES.has(outcome)
}

/** In seconds, as the metrics. */
function remainingOf({ remaining }: { readonly remaining: number }): Attributes {
  return Number.isFinite(remaining) ? { remaining: remaining / 1_000 } : {}
}
