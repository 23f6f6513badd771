"""What pages share: controls, the job panel, the result view, exports, notices."""
