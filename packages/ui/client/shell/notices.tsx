import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { UiFinding } from '../../src/protocol.js'
import { leaseHref } from '../route/route.js'
import { usePage, usePageOn } from './page-context.js'

const findingTitles: Readonly<Record<UiFinding['kind'], string>> = {
  'two-holders': 'Two holders at a time',
  'token-shrank': 'A fencing token became smaller',
  'unfit-store': 'The store does not keep its word',
}

/** A stale page, and findings: the reader must know them first. Screen readers say new ones. */
export function Notices() {
  const { state } = usePageOn('status', 'findings')
  const { status, findings } = state
  return (
    <section class="notices" aria-label="Notices" tabIndex={findings.length > mostShown ? 0 : undefined}>
      <div aria-live="polite">
        {status.kind === 'stale' && (
          <Notice kind="stale" title="This page is stale">
            {status.error.message} The leases below may have changed since <Time at={state.knownUntil} />.
          </Notice>
        )}
        {status.kind === 'connecting' && status.error !== undefined && (
          <Notice kind="stale" title="Not connected">
            {status.error.message} The page tries again.
          </Notice>
        )}
        <Findings findings={findings} />
      </div>
    </section>
  )
}

/** More of them would leave no place for the leases. */
const mostShown = 3

function Findings({ findings }: { readonly findings: readonly UiFinding[] }) {
  const { state, formats } = usePage()
  const [isAll, setAll] = useState(false)
  const rest = findings.length - mostShown
  return (
    <>
      {(isAll ? findings : findings.slice(0, mostShown)).map((finding) => (
        <Notice key={finding.id} kind="finding" title={findingTitles[finding.kind] ?? finding.kind}>
          {finding.message} Last seen at {formats.time(finding.at, state.serverNow)}.
          {finding.leaseName !== undefined && (
            <>
              {' '}
              <a href={leaseHref(finding.leaseName)}>Show {finding.leaseName}</a>
            </>
          )}
        </Notice>
      ))}
      {rest > 0 && (
        <button type="button" class="plain" aria-expanded={isAll} onClick={() => setAll(!isAll)}>
          {isAll ? 'Show fewer findings' : `Show ${formats.number(rest)} more findings`}
        </button>
      )}
    </>
  )
}

function Notice({
  kind,
  title,
  children,
}: {
  readonly kind: string
  readonly title: string
  readonly children: ComponentChildren
}) {
  return (
    <div class="notice" data-kind={kind}>
      <strong>{title}</strong>
      <p>{children}</p>
    </div>
  )
}

/** The instant at which the notice first appeared: it does not change while it is read out. */
function Time({ at }: { readonly at: number }) {
  const { state, formats } = usePageOn()
  return <time dateTime={new Date(at).toISOString()}>{formats.time(at, state.serverNow)}</time>
}
