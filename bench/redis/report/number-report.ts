import type { Contender } from '../contenders/contender.js'
import { shown } from './table.js'

/** What one number came to, as it is printed, written and drawn. */
export interface NumberReport {
  readonly title: string
  /** Paragraphs and tables, in Markdown. */
  readonly body: string
  /** Bounds of ours that were not kept, a sentence each. */
  readonly failures: readonly string[]
  readonly charts: readonly Chart[]
}

/** Bars beside each other, one a contender. */
export interface Chart {
  readonly title: string
  readonly bars: readonly Bar[]
}

export interface Bar {
  readonly label: string
  readonly value: number
  /** The value as it is written at the bar. */
  readonly text: string
  readonly ours: boolean
}

/** A chart with one bar for each contender. */
export function chartOf<R extends { readonly contender: Contender }>(
  title: string,
  results: readonly R[],
  figure: (result: R) => number,
): Chart {
  const bars = results.map((result) => {
    const { library, setting, ours } = result.contender
    const value = figure(result)
    return { label: `${library}, ${setting}`, value, text: shown(value), ours }
  })
  return { title, bars }
}
