/** Messages between the page and the worker that has the shelf. */
import type { FileChunk } from 'posttrain-engine';
import type { RunRecord } from './record';

export interface Listed {
    record: RunRecord;
    /** Everything of the run: both saves and its text. */
    bytes: number;
}

/** A run of which neither save can be read; or a newer page saved it. */
export interface Unreadable {
    id: string;
    bytes: number;
    newer: boolean;
}

export interface Kept {
    record: RunRecord;
    /** Losses, then learning rates. */
    curve: Float64Array<ArrayBuffer>;
    model: File;
    /** Undefined when the text comes with the page, or is damaged. */
    corpus: File | undefined;
    /** Sentences about a save that could not be used. */
    told: string[];
}

export interface Calls {
    list: { args: null; result: { runs: Listed[]; unreadable: Unreadable[] } };
    /** Of the text of a run: its SHA-256. Kept in the run's folder when asked to. */
    text: { args: { id: string; text: Blob; keep: boolean }; result: string };
    begin: { args: { id: string }; result: null };
    write: { args: FileChunk; result: null };
    /** Ends the save that was begun; the number of its bytes. */
    commit: { args: { record: RunRecord; curve: Float64Array<ArrayBuffer> }; result: number };
    abort: { args: null; result: null };
    read: { args: { id: string }; result: Kept };
    /** The model of its newest save that has one whole, whatever else is damaged. `proved`: it is as it was written. */
    model: { args: { id: string }; result: { model: File; proved: boolean } };
    rename: { args: { id: string; name: string }; result: null };
    /** Marks a run as deleted, or takes the mark off. */
    discard: { args: { id: string; gone: boolean }; result: null };
    /** Deletes what is marked, and what never became a run. */
    sweep: { args: null; result: null };
}

export type CallName = keyof Calls;

export interface Request {
    id: number;
    call: CallName;
    args: unknown;
}

export interface Failure {
    full: boolean;
    message: string;
}

export type Response = { id: number; result: unknown } | { id: number; failure: Failure };
