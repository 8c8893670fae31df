import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { RowState } from '../../src/protocol.js'
import { everything, states } from '../list/filter.js'
import type { ListView } from '../list/listing.js'
import { usePageOn } from '../shell/page-context.js'
import { SortChoice } from './sort-header.js'
import { stateTexts } from './states.js'

/** The filter, for the list and the timeline alike, and whether the list is grouped. */
export function Toolbar({ canGroup, children }: { readonly canGroup: boolean; readonly children?: ComponentChildren }) {
  const { state, formats } = usePageOn('leases')
  const { listing } = state
  const { view } = listing
  const input = useRef<HTMLInputElement>(null)
  useSlashKey(() => input.current?.focus())
  // Without a filter, the number goes up and down by itself: nobody wants to hear that.
  const isFiltered = view.filter.text !== '' || view.filter.states.size > 0
  const change = (part: Partial<ListView>) => state.look({ ...listing.view, ...part })
  return (
    <search class="toolbar">
      <input
        ref={input}
        type="search"
        class="filter"
        aria-label="Filter by name or holder"
        placeholder="Filter by name or holder"
        spellcheck={false}
        value={view.filter.text}
        onInput={(event) => change({ filter: { ...listing.view.filter, text: event.currentTarget.value } })}
      />
      <StateFilter />
      {children}
      {canGroup && (
        <label class="check">
          <input
            type="checkbox"
            checked={view.isGrouped}
            onChange={(event) => change({ isGrouped: event.currentTarget.checked })}
          />
          Group by prefix
        </label>
      )}
      <SortChoice />
      <p class="shown" role={isFiltered ? 'status' : undefined}>
        {listing.shown.length === listing.size
          ? `${formats.number(listing.size)} ${listing.size === 1 ? 'lease' : 'leases'}`
          : `${formats.number(listing.shown.length)} of ${formats.number(listing.size)} leases`}
      </p>
      {isFiltered && (
        <button type="button" class="plain" onClick={() => change({ filter: everything })}>
          Show all
        </button>
      )}
    </search>
  )
}

function StateFilter() {
  const { state, formats } = usePageOn('leases')
  const { listing } = state
  const { view } = listing
  const toggle = (one: RowState) => {
    const { view: now } = listing
    const chosen = new Set(now.filter.states)
    if (!chosen.delete(one)) chosen.add(one)
    state.look({ ...now, filter: { ...now.filter, states: chosen } })
  }
  return (
    <fieldset class="chips">
      <legend class="unseen">Filter by state</legend>
      {states.map((one) => (
        <button
          key={one}
          type="button"
          class="chip"
          data-state={one}
          aria-pressed={view.filter.states.has(one)}
          onClick={() => toggle(one)}
        >
          {stateTexts[one]} <span class="count">{formats.number(listing.countOf(one))}</span>
        </button>
      ))}
    </fieldset>
  )
}

/** `/` goes to the filter, as in many lists, unless the reader types somewhere. */
function useSlashKey(focus: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof Element && event.target.matches('input, textarea, select')
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      focus()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}
