import type ts from 'typescript'

/** Thrown where a change would not be certain to be right. The sentence says why, and what to do. */
export class NotSure extends Error {
  override readonly name = 'NotSure'
  readonly node: ts.Node
  readonly sentence: string

  constructor(node: ts.Node, sentence: string) {
    super(sentence)
    this.node = node
    this.sentence = sentence
  }
}
