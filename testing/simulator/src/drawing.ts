export { type Bar, colours, LaneDrawing, type LaneDrawingOptions } from './lane-drawing.js'
export { TimelineTable } from './timeline-table.js'
