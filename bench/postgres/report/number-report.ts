/** The result of one number, as it is printed and written. */
export interface NumberReport {
  readonly title: string
  /** Paragraphs and tables, in Markdown. */
  readonly body: string
  /** Goals of ours that were not reached, a sentence each. */
  readonly failures: readonly string[]
}
